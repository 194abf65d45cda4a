import Basics
import CLinux
import Foundation
import TestSupport
import Testing

@Suite struct DirectoryRemovalTests {
    @Test func testThatWhatIsAbsentIsFine() async throws {
        try await withTemporaryDirectory { temporary in
            try temporary.write("file", "")
            let directory = try temporary.directory()
            try directory.remove("absent")
            try directory.remove("absent/below")
            try directory.remove("file/below")
            #expect(try directory.entries().map(\.name) == ["file"])
        }
    }

    @Test(arguments: ["empty", "narrow", "wide", "filled", "file", "link", "closed", "absent/below"])
    func testThatAnEmptyDirectoryIsThereAndStaysOnlyIfItWasOne(name: String) async throws {
        try await withTemporaryDirectory { temporary in
            // given
            try temporary.makeDirectory("empty")
            try temporary.write("filled/file", "")
            try temporary.write("file", "")
            #expect(symlink("empty", temporary.path("link")) == 0)
            try temporary.makeDirectory("closed")
            #expect(chmod(temporary.path("closed"), 0o500) == 0)
            // The modes are those that a umask leaves, and others
            for (name, mode) in [("narrow", 0o700), ("wide", 0o777)] {
                try temporary.makeDirectory(name)
                #expect(chmod(temporary.path(name), mode_t(mode)) == 0)
            }
            let directory = try temporary.directory()
            let before = try directory.status(name)?.inode
            // when
            try directory.makeEmptyDirectory(name)
            // then
            let status = try #require(try directory.status(name))
            #expect(status.kind == .directory)
            #expect(status.mode == (name == "narrow" ? 0o700 : 0o755))
            #expect(try directory.entries(name).isEmpty)
            if ["empty", "narrow"].contains(name) { #expect(status.inode == before) }
            #expect(try directory.status("filled/file") == nil || name != "filled")
        }
    }

    @Test func testThatATreeDeeperThanAnyPathIsRemoved() async throws {
        try await withTemporaryDirectory { temporary in
            // given: 5,000 levels and 50,000 bytes of path, more levels than descriptors
            try temporary.makeDirectory("deep")
            var descriptor = open(temporary.path("deep"), O_RDONLY)
            for _ in 0..<5000 {
                #expect(mkdirat(descriptor, "level-name", 0o755) == 0)
                let below = clinux_openat(descriptor, "level-name", O_RDONLY, 0)
                close(descriptor)
                descriptor = below
            }
            close(descriptor)
            // when
            let directory = try temporary.directory()
            try directory.remove("deep")
            // then
            #expect(try directory.entries().isEmpty)
        }
    }

    @Test func testThatATreeOfManyNamesIsRemoved() async throws {
        try await withTemporaryDirectory { temporary in
            for number in 0..<5000 { try temporary.directory().write("x\(number)", bytes: []) }
            for number in 0..<200 { try temporary.write("d\(number)/e/f", "") }
            let directory = try temporary.directory()
            try directory.removeContents()
            #expect(try directory.entries().isEmpty)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can become another user for a moment"))
    func testThatDirectoriesWithoutPermissionsAreRemoved() async throws {
        try await withTemporaryDirectory { temporary in
            // given: a job's tree whose directories have no permissions, owned by an ordinary user
            try temporary.write("tree/a/b/file", "")
            try temporary.write("tree/c/file", "")
            try temporary.makeDirectory("tree/empty")
            for path in ["", "tree", "tree/a", "tree/a/b", "tree/c", "tree/empty"] {
                #expect(chown(temporary.path(path), 65534, 65534) == 0)
            }
            for path in ["tree/a/b", "tree/a", "tree/c", "tree/empty", "tree"] {
                #expect(chmod(temporary.path(path), path == "tree/c" ? 0o500 : 0) == 0)
            }
            // when: as that user (the file system identity belongs to the thread, credentials(7))
            let path = temporary.path
            try await SerialQueue(label: "user").run {
                clinux_setfsuid(65534)
                defer { clinux_setfsuid(0) }
                let directory = try Directory(opening: path)
                try directory.remove("tree")
            }
            // then
            expectNoFile(temporary.path("tree"))
        }
    }
}
