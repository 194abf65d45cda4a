import CLinux
import Glibc
import TestSupport
import Testing

/// What is brought to the disk beside something else, and how whoever waits for it learns that it failed.
@Suite struct SyncingTests {
    /// - Returns: The number of what failed; nothing where no thread could be made.
    private func sync(_ descriptor: Int32, _ directory: String? = nil) -> Int32? {
        clinux_sync_begin(descriptor, directory).map { clinux_sync_end($0) }
    }

    @Test func testThatAFileAndItsNameAreBroughtToTheDisk() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let file = open(try directory.write("file", "1"), O_RDWR | O_CLOEXEC)
            defer { close(file) }

            // when, then
            #expect(sync(file) == 0)
            #expect(sync(file, directory.path) == 0)
        }
    }

    @Test func testThatWhatCannotBeBroughtToTheDiskIsTold() async throws {
        try await withTemporaryDirectory { directory in
            // given: what is no file, a directory that is not there, and one that is none
            let file = open(try directory.write("file", "1"), O_RDWR | O_CLOEXEC)
            var pipe: [Int32] = [-1, -1]
            #expect(clinux_pipe(&pipe) == 0)
            defer { for descriptor in [file] + pipe { close(descriptor) } }

            // when, then
            #expect(sync(-1) == EBADF)
            #expect(sync(pipe[1]) == EINVAL)
            #expect(sync(file, directory.path("absent")) == ENOENT)
            #expect(sync(file, directory.path("file")) == ENOTDIR)
        }
    }
}
