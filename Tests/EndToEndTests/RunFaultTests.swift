import Basics
import Foundation
import Glibc
import TestSupport
import Testing

/// The messages and exit statuses of `martlet run` when the code is not at fault.
@Suite struct RunFaultTests {
    private static let green = ["Makefile": "all:\n"]

    /// Returns the cache directory of the fixture's tree, which a run has made.
    private func cache(of fixture: RunFixture) throws -> String {
        let name = try Directory(opening: fixture.caches).entries().first { $0.name.hasPrefix("kit-") }?.name
        return "\(fixture.caches)/\(try #require(name))"
    }

    @Test(
        .proves(.programs, "A run whose end cannot be stored is not red: `martlet run` reports its cache's fault"),
        .smallDisk)
    func testThatAnEndThatCannotBeStoredIsTheCachesFault() async throws {
        try await withTemporaryDirectory { outer in
            let disk = try outer.makeDirectory("disk")
            try await SmallDisk.mounted(on: disk, size: "4m") {
                try await withWorkingTree(Self.green) { fixture in
                    // given: a database on a disk that the next run's tests fill
                    #expect(try await fixture.martlet().status == 0)
                    let database = try cache(of: fixture) + "/martlet.sqlite"
                    for end in ["", "-wal"] {
                        try FileManager.default.moveItem(atPath: database + end, toPath: disk + "/martlet.sqlite" + end)
                    }
                    try #require(symlink(disk + "/martlet.sqlite", database) == 0)
                    try fixture.write(["Makefile": "all:\n\ncheck:\n\t@cat /dev/zero >\(disk)/full || true\n"])
                    // when
                    let result = try await fixture.martlet(["--isolation", "none"])
                    // then
                    #expect(result.status == 73, "\(result.stdout)\(result.stderr)")
                    expectContains(result.stderr, "what kit#2 came to could not be stored in ")
                    expectContains(result.stderr, "free space there, or set XDG_CACHE_HOME")
                    #expect(!result.stdout.contains("kit#2 testing"))
                }
            }
        }
    }

    @Test(
        .proves(
            .programs,
            "`martlet run` exits with 73 if it cannot write its cache, 70 if it cannot read a repository, and 66 without such a directory"
        ))
    func testThatARepositoryThatCannotBeReadIsNoMissingDirectory() async throws {
        try await withWorkingTree(Self.green) { fixture in
            // given
            _ = try await GitRepository.make(at: fixture.tree)
            try fixture.write([".git/index": "no index at all"])
            // when
            let result = try await fixture.martlet()
            // then
            #expect(result.status == 70, "\(result.stdout)\(result.stderr)")
            expectContains(result.stderr, "read the working tree \(fixture.tree) failed: ")
        }
    }

    @Test(
        .proves(
            .programs,
            "`martlet run` exits with 73 if it cannot write its cache, 70 if it cannot read a repository, and 66 without such a directory"
        ))
    func testThatASnapshotThatCannotBeWrittenIsTheCachesFault() async throws {
        try await withWorkingTree(Self.green) { fixture in
            // given
            #expect(try await fixture.martlet().status == 0)
            let repository = try cache(of: fixture) + "/snapshots.git"
            try FileManager.default.removeItem(atPath: repository)
            try #require(FileManager.default.createFile(atPath: repository, contents: nil))
            // when
            let result = try await fixture.martlet()
            // then
            #expect(result.status == 73, "\(result.stdout)\(result.stderr)")
        }
    }

    @Test(
        .proves(
            .programs,
            "`martlet run` exits with 73 if it cannot write its cache, 70 if it cannot read a repository, and 66 without such a directory"
        ), .smallDisk)
    func testThatAFullDiskBelowTheSnapshotIsTheCachesFault() async throws {
        try await withTemporaryDirectory { outer in
            let disk = try outer.makeDirectory("disk")
            try await SmallDisk.mounted(on: disk, size: "1m") {
                try await withWorkingTree(Self.green) { fixture in
                    // given: data that does not fit there, however it is compressed
                    #expect(try await fixture.martlet().status == 0)
                    let repository = try cache(of: fixture) + "/snapshots.git"
                    try FileManager.default.removeItem(atPath: repository)
                    try #require(symlink(disk, repository) == 0)
                    var random = SystemRandomNumberGenerator()
                    let noise = (0..<1 << 18).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } }
                    try fixture.directory.write("kit/noise", noise)
                    // when
                    let result = try await fixture.martlet()
                    // then
                    #expect(result.status == 73, "\(result.stdout)\(result.stderr)")
                }
            }
        }
    }
}
