import Foundation
import TestSupport
import Testing

@testable import Basics

@Suite struct DirectoryTests {
    @Test func testThatItWritesAndReadsBack() async throws {
        try await withTemporaryDirectory { temporary in
            // given
            let directory = try temporary.directory()
            try directory.makeDirectories("a/b")
            // when
            try directory.write("a/b/c", bytes: Array("text".utf8), mode: 0o600)
            // then
            #expect(try directory.read("a/b/c", limit: 4) == Array("text".utf8))
            #expect(try directory.status("a/b/c")?.mode == 0o600)
            #expect(try directory.entries("a/b").map(\.name) == ["c"])
        }
    }

    @Test func testThatAFileIsMadeOnlyWhereNoneIs() async throws {
        try await withTemporaryDirectory { temporary in
            // given
            let directory = try Directory(opening: temporary.path)
            try directory.makeDirectories("a")
            try directory.makeLink("a/link", target: Array("elsewhere".utf8))

            // when: a mode with more bits than the usual umask leaves
            let status = try directory.create("a/b", bytes: Array("1".utf8), mode: 0o777)

            // then
            #expect(status.mode == 0o777)
            #expect(try directory.status("a/b") == status)
            for name in ["a/b", "a/link", "a"] {
                await expectRejection(FileError.self, \.code, .exists) {
                    _ = try directory.create(name, bytes: [], mode: 0o644)
                }
            }
            #expect(try directory.read("a/b", limit: 10) == Array("1".utf8))
            #expect(try directory.status("a/elsewhere") == nil)
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "A checkout writes changed files under their own names; what a kill leaves of them is repaired by the next")
    )
    func testThatAFileIsRewrittenInPlaceOfFilesAndLinksAlone() async throws {
        try await withTemporaryDirectory { temporary in
            // given: a second name, and a link to a file
            try temporary.write("outside", "whole")
            let directory = try Directory(opening: temporary.path)
            try directory.makeDirectories("a/directory")
            try directory.write("a/file", bytes: Array("before".utf8))
            #expect(link(temporary.path("a/file"), temporary.path("a/second")) == 0)
            try directory.makeLink("a/link", target: Array("../outside".utf8))

            // when, then: a mode with more bits than the usual umask leaves
            for name in ["a/absent", "a/file", "a/link"] {
                let status = try directory.rewrite(name, bytes: Array("after".utf8), mode: 0o777)
                #expect(status.mode == 0o777)
                #expect(try directory.status(name) == status)
                #expect(try directory.read(name, limit: 10) == Array("after".utf8))
            }
            #expect(try directory.read("a/second", limit: 10) == Array("before".utf8))
            #expect(try directory.read("outside", limit: 10) == Array("whole".utf8))
            await expectRejection(FileError.self, \.code, .isDirectory) {
                _ = try directory.rewrite("a/directory", bytes: [])
            }
            #expect(
                try directory.entries("a").map(\.name).sorted() == ["absent", "directory", "file", "link", "second"])
        }
    }

    @Test func testThatAnAbsentPathHasNoStatus() async throws {
        try await withTemporaryDirectory { temporary in
            try temporary.write("file", "x")
            let directory = try temporary.directory()
            #expect(try directory.status("absent") == nil)
            #expect(try directory.status("absent/below") == nil)
            #expect(try directory.status("file/below") == nil)
        }
    }

    @Test(arguments: ["", "/etc/passwd", "..", "a/../../b", "a//b", "a/..", "a\0b"])
    func testThatItRefusesPathsThatAreNotBeneath(_ path: String) async throws {
        try await withTemporaryDirectory { temporary in
            let directory = try temporary.directory()
            await expectRejection(FileError.self, \.code, .notBeneath) { try directory.status(path) }
            await expectRejection(FileError.self, \.code, .notBeneath) { try directory.read(path, limit: 1) }
            await expectRejection(FileError.self, \.code, .notBeneath) { try directory.write(path, bytes: []) }
            await expectRejection(FileError.self, \.code, .notBeneath) { try directory.remove(path) }
            await expectRejection(FileError.self, \.code, .notBeneath) { try directory.makeDirectories(path) }
        }
    }

    @Test func testThatItDoesNotRemoveItself() async throws {
        try await withTemporaryDirectory { temporary in
            let directory = try temporary.directory()
            await expectRejection(FileError.self, \.code, .notBeneath) { try directory.remove(".") }
        }
    }

    @Test func testThatItRefusesAPathThatIsTooLong() async throws {
        try await withTemporaryDirectory { temporary in
            let path = Array(repeating: "abcdefg", count: 600).joined(separator: "/")
            let directory = try temporary.directory()
            await expectRejection(FileError.self, \.code, .tooLarge) { try directory.status(path) }
        }
    }

    @Test func testThatItReadsUpToItsLimitAndNoByteMore() async throws {
        try await withTemporaryDirectory { temporary in
            try temporary.write("file", "12345")
            let directory = try temporary.directory()
            #expect(try directory.read("file", limit: 5).count == 5)
            await expectRejection(FileError.self, \.code, .tooLarge) { try directory.read("file", limit: 4) }
        }
    }

    @Test func testThatItListsUpToItsLimit() async throws {
        try await withTemporaryDirectory { temporary in
            for name in ["b", "a", "c"] { try temporary.write("many/" + name, "") }
            let directory = try temporary.directory()
            #expect(try directory.entries("many", limit: 3).map(\.name) == ["a", "b", "c"])
            await expectRejection(FileError.self, \.code, .tooLarge) { try directory.entries("many", limit: 2) }
        }
    }

    @Test(arguments: [[0xFF, 0xFE, 0x41], Array("new\nline".utf8), Array(" -rf ".utf8), Array("ä\u{202E}x".utf8)])
    func testThatNamesAreBytes(_ name: [UInt8]) async throws {
        try await withTemporaryDirectory { temporary in
            // given
            let directory = try temporary.directory()
            try directory.makeDirectories("from")
            try directory.makeDirectories("to")
            let path = Array("from/".utf8) + name
            // when
            try directory.write(path, bytes: [1, 2, 3])
            _ = try directory.directory("from").copyFile(name, to: directory.directory("to"), name, limit: 3)
            // then
            #expect(try directory.entries("from").map(\.bytes) == [name])
            #expect(try directory.read(Array("to/".utf8) + name, limit: 3) == [1, 2, 3])
            #expect(try directory.entries("from").first?.isText == (name[0] != 0xFF))
            try directory.remove(path)
            #expect(try directory.entries("from").isEmpty)
        }
    }

    @Test func testThatItCopiesWithPermissionsAndWithinTheLimit() async throws {
        try await withTemporaryDirectory { temporary in
            let bytes = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            try temporary.write("tool", bytes, mode: 0o755)
            let directory = try temporary.directory()
            #expect(try directory.copyFile("tool", to: directory, "copy", limit: 700_000) == 700_000)
            #expect(try directory.read("copy", limit: 700_000) == bytes)
            #expect(try directory.status("copy")?.isExecutable == true)
            await expectRejection(FileError.self, \.code, .tooLarge) {
                try directory.copyFile("tool", to: directory, "second", limit: 699_999)
            }
            #expect(try directory.entries().map(\.name) == ["copy", "tool"])
        }
    }

    @Test func testThatAnEmptyAndASparseFileAreCopied() async throws {
        try await withTemporaryDirectory { temporary in
            try temporary.write("empty", "")
            let sparse = try temporary.write("sparse", "")
            #expect(truncate(sparse, 3 << 20) == 0)
            let directory = try temporary.directory()
            #expect(try directory.copyFile("empty", to: directory, "empty2", limit: 0) == 0)
            #expect(try directory.copyFile("sparse", to: directory, "sparse2", limit: 3 << 20) == 3 << 20)
        }
    }

    /// It holds also if the file system's rename supports no flags.
    @Test(
        .proves(
            .releases,
            "Uploads into a directory work on shares without a rename's flags (NFS, 9p, sshfs), end at a cancel, and find what a kill left"
        ), arguments: [true, false])
    func testThatTwoWhoPublishOneNameCannotBothWin(knowsFlags: Bool) async throws {
        try await withTemporaryDirectory { temporary in
            // given
            try temporary.write("first/file", "1")
            try temporary.write("second/file", "2")
            let directory = try temporary.directory()
            try directory.rename("first", to: directory, "version", replace: false, knowsFlags: knowsFlags)
            // when
            await expectRejection(FileError.self, \.code, .exists) {
                try directory.rename("second", to: directory, "version", replace: false, knowsFlags: knowsFlags)
            }
            // then
            #expect(try temporary.text("version/file") == "1")
            #expect(try temporary.text("second/file") == "2")
        }
    }

    /// A file or a link of that name is left alone, too. An empty directory counts as absent, as it may be left by a kill.
    @Test func testThatADirectoryWithoutFlagsGoesOverNothingButAnEmptyOne() async throws {
        try await withTemporaryDirectory { temporary in
            // given
            try temporary.write("new/file", "1")
            try temporary.write("there", "2")
            try temporary.makeDirectory("empty")
            let directory = try temporary.directory()
            try directory.makeLink("link", target: Array("empty".utf8))
            // when
            for name in ["there", "link"] {
                await expectRejection(FileError.self, \.code, .exists) {
                    try directory.rename("new", to: directory, name, replace: false, knowsFlags: false)
                }
            }
            try directory.rename("new", to: directory, "empty", replace: false, knowsFlags: false)
            // then
            #expect(try temporary.text("empty/file") == "1")
            #expect(try temporary.text("there") == "2")
            #expect(try directory.status("link")?.kind == .link)
        }
    }

    /// `cp -al` and hardlink(1) give an operator's file a second name. In a job's tree such a name could be of one of our files.
    @Test(
        .proves(
            .releases, "Serving: Published files that have second names (`cp -al`) are served, verified and uploaded"))
    func testThatAFileWithASecondNameIsReadWhereNoJobWritesAlone() async throws {
        try await withTemporaryDirectory { temporary in
            // given
            try temporary.write("tree/below/file", "1")
            #expect(link(temporary.path("tree/below/file"), temporary.path("tree/other")) == 0)
            // when, then
            let trusted = try Directory(opening: temporary.path("tree"), readsSecondNames: true)
            #expect(try trusted.read("other", limit: 1) == Array("1".utf8))
            #expect(try trusted.directory("below").read("file", limit: 1) == Array("1".utf8))
            #expect(
                try Directory(creating: temporary.path("tree"), readsSecondNames: true).read("other", limit: 1).count
                    == 1)
            await expectRejection(FileError.self, \.code, .notRegular) {
                try Directory(opening: temporary.path("tree")).read("other", limit: 1)
            }
            await expectRejection(FileError.self, \.code, .notRegular) {
                try Directory(opening: temporary.path("tree")).directory("below").read("file", limit: 1)
            }
        }
    }

    @Test(
        .proves(
            .releases,
            "Uploads into a directory work on shares without a rename's flags (NFS, 9p, sshfs), end at a cancel, and find what a kill left"
        ))
    func testThatAFileAndALinkGoOverNothingWithoutFlagsEither() async throws {
        try await withTemporaryDirectory { temporary in
            // given
            let directory = try temporary.directory()
            try temporary.write("file", "1")
            try directory.makeLink("link", target: Array("file".utf8))
            // when
            try directory.rename("file", to: directory, "target", replace: false, knowsFlags: false)
            for name in ["target", "link"] {
                await expectRejection(FileError.self, \.code, .exists) {
                    try directory.rename("link", to: directory, name, replace: false, knowsFlags: false)
                }
            }
            try directory.rename("link", to: directory, "moved", replace: false, knowsFlags: false)
            // then
            #expect(try directory.read("target", limit: 1) == Array("1".utf8))
            #expect(try directory.status("target")?.links == 1)
            #expect(try directory.entries().map(\.name) == ["moved", "target"])
            #expect(try directory.status("moved")?.kind == .link)
        }
    }

    @Test func testThatACopyThatIsEndedLeavesWhatItHasUnderItsName() async throws {
        try await withTemporaryDirectory { temporary in
            // given
            try temporary.write("file", "1")
            let directory = try temporary.directory()
            // when
            await expectRejection(FileError.self, \.code, .other) {
                _ = try directory.copyFile("file", to: directory, "part", limit: 9, isBeside: false) { _ in false }
            }
            // then
            #expect(try directory.entries().map(\.name) == ["file", "part"])
            await expectRejection(FileError.self, \.code, .exists) {
                _ = try directory.copyFile("file", to: directory, "part", limit: 9, isBeside: false)
            }
        }
    }

    @Test func testThatItWalksInByteOrderAndNeverThroughLinks() async throws {
        try await withTemporaryDirectory { temporary in
            // given
            try temporary.write("b/file", "")
            try temporary.write("a/deep/file", "")
            let directory = try temporary.directory()
            try directory.makeLink("loop", target: Array(".".utf8))
            // when
            var seen: [String] = []
            try directory.walk(limit: 6) { path, _ in seen.append(String(decoding: path, as: UTF8.self)) }
            // then
            #expect(seen == ["a", "a/deep", "a/deep/file", "b", "b/file", "loop"])
            await expectRejection(FileError.self, \.code, .tooLarge) { try directory.walk(limit: 5) { _, _ in } }
        }
    }

    @Test func testThatItSynchronizesATreeWithPipesAndLinks() async throws {
        try await withTemporaryDirectory { temporary in
            try temporary.write("a/file", "x")
            #expect(mkfifo(temporary.path("a/pipe"), 0o600) == 0)
            let directory = try temporary.directory()
            try directory.makeLink("a/link", target: Array("/nowhere".utf8))
            try directory.synchronizeTree()
            try directory.synchronizeTree("a")
            try directory.synchronize()
        }
    }
}
