import Archives
import Basics
import Model
import TestSupport
import Testing

/// Each file operation of staging and publishing fails once; a version is never seen half.
@Suite struct VersionStoreFailureTests {
    /// The disk, but the n-th operation fails: before it is done, or after.
    private final class FailingFiles: VersionFiles {
        private let disk = DiskVersionFiles()
        private let left: Locked<Int>
        private let isDoneFirst: Bool

        init(failing count: Int, isDoneFirst: Bool) {
            left = Locked(count)
            self.isDoneFirst = isDoneFirst
        }

        private func fail(_ body: () throws(FileError) -> Void) throws(FileError) {
            let isNow = left.withLock { left in
                left -= 1
                return left == 0
            }
            if !isNow || isDoneFirst { try body() }
            if isNow {
                throw FileError(code: .other, operation: "test", path: "", errno: 5, message: "Input/output error")
            }
        }

        func makeDirectory(_ path: String, in directory: Directory) throws(FileError) {
            try fail { () throws(FileError) in try disk.makeDirectory(path, in: directory) }
        }
        func copy(_ source: String, to directory: Directory, _ path: String) throws(FileError) {
            try fail { () throws(FileError) in try disk.copy(source, to: directory, path) }
        }
        func write(_ bytes: [UInt8], to directory: Directory, _ path: String) throws(FileError) {
            try fail { () throws(FileError) in try disk.write(bytes, to: directory, path) }
        }
        func synchronizeTree(_ path: String, in directory: Directory) throws(FileError) {
            try fail { () throws(FileError) in try disk.synchronizeTree(path, in: directory) }
        }
        func synchronize(_ directory: Directory) throws(FileError) {
            try fail { () throws(FileError) in try disk.synchronize(directory) }
        }
        func move(
            _ path: String, in directory: Directory, to other: Directory, _ newPath: String
        ) throws(FileError) {
            try fail { () throws(FileError) in try disk.move(path, in: directory, to: other, newPath) }
        }
        func remove(_ path: String, in directory: Directory) throws(FileError) {
            try fail { () throws(FileError) in try disk.remove(path, in: directory) }
        }
    }

    @Test(arguments: [false, true])
    func testThatAVersionIsNeverSeenHalf(isDoneFirst: Bool) async throws {
        let content = ["kit.tar.zst": "library", "kit-source.tar.gz": "source"]
        var count = 0
        var hasSucceeded = false
        while !hasSucceeded {
            count += 1
            try #require(count < 50)
            try await withTemporaryDirectory { directory in
                // given
                let fixture = try VersionFixture(
                    directory, operations: FailingFiles(failing: count, isDoneFirst: isDoneFirst))

                // when
                do {
                    try await fixture.publish("1.0.0", content)
                    hasSucceeded = true
                } catch let error as ArchiveError {
                    #expect(error.code == .file)
                }

                // then
                try fixture.expectWholeOrAbsent("1.0.0", names: Set(content.keys))
                // The next try, after a restart, ends with the version published once.
                let again = try VersionFixture(directory)
                try await again.store.clearStaging()
                try await again.publish("1.0.0", content)
                try again.expectWholeOrAbsent("1.0.0", names: Set(content.keys))
                #expect(try await again.store.versions(of: again.product).count == 1)
                #expect(try again.staged() == [])
            }
        }
        // Four moves: mkdir, 2 copies, 2 writes, fsync; mkdir, fsync, rename, 2 fsyncs.
        #expect(count == 12)
    }

    @Test(.smallDisk) func testThatAFullDiskIsNamedAndNothingIsSeen() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let small = try directory.makeDirectory("small")
            try await SmallDisk.mounted(on: small) {
                let fixture = try VersionFixture(directory)
                let store = try VersionStore(files: small + "/files", staging: small + "/staging")
                let files = try fixture.files(["large": String(repeating: "x", count: 200_000)])

                // when
                let error = await expectRejection(ArchiveError.self, \.code, .file) {
                    try await store.stage(fixture.manifest("1.0.0", files), files: files)
                }

                // then
                expectContains(error?.description ?? "", "No space left on device")
                #expect(try await store.versions(of: fixture.product) == [])
                #expect(try Directory(opening: small + "/staging").entries().isEmpty)
            }
        }
    }
}
