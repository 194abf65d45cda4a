import Model
import SourceControl
import TestSupport
import Testing

@Suite struct ChangesTests {
    private static let file = (1...12).map { "line \($0)\n" }.joined()

    private func changes(
        _ paths: Set<String>, files: [String: String] = [:], removing: [String] = [],
        from start: [String: String] = ["a.c": file, "b.c": "b\n"]
    ) async throws -> SourceChanges {
        var found = SourceChanges()
        try await withOrigin(start) { fixture in
            let first = try await fixture.origin.head()
            let second = try await fixture.origin.commit(files: files, removing: removing)
            _ = try await fixture.fetch()
            found = try await fixture.mirror.changes(from: first, to: second, paths: paths)
        }
        return found
    }

    private func line(_ changes: SourceChanges, _ line: Int, of path: String = "a.c") -> String {
        guard let place = changes.place(path: path, line: line) else { return "gone" }
        return "\(place.path):\(place.line)" + (place.taken == nil ? "" : " taken")
    }

    @Test func testThatLinesAreFollowed() async throws {
        // given: lines 3 and 4 removed, two added before line 8, line 11 changed, line 12 indented
        let lines =
            [1, 2, 5, 6, 7].map { "line \($0)" } + ["x", "y", "line 8", "line 9", "line 10", "other", "\tline   12"]
        // when
        let changes = try await changes(["a.c"], files: ["a.c": lines.joined(separator: "\n") + "\n"])
        // then
        #expect(
            (1...12).map { line(changes, $0) } == [
                "a.c:1", "a.c:2", "a.c:3 taken", "a.c:3 taken", "a.c:3", "a.c:4", "a.c:5", "a.c:8", "a.c:9", "a.c:10",
                "a.c:11 taken", "a.c:12",
            ])
        #expect(line(changes, 1, of: "b.c") == "b.c:1")
    }

    @Test(.proves(.issueHistory, "Fingerprints survive renamed files, and code that moves to another file"))
    func testThatARenamedFileIsFollowedWithItsLines() async throws {
        let changes = try await changes(
            ["a.c"], files: ["deep/z.c": "first\n" + Self.file], removing: ["a.c"])
        #expect(changes.path(of: "a.c") == "deep/z.c")
        #expect(line(changes, 4) == "deep/z.c:5")
        #expect(changes.added.isEmpty)
    }

    @Test func testThatAFileOfOtherContentIsNoRename() async throws {
        let other = (1...12).map { "other \($0 * 77)\n" }.joined()
        let changes = try await changes(["a.c", "z.c"], files: ["z.c": other], removing: ["a.c"])
        #expect(changes.path(of: "a.c") == nil)
        #expect(line(changes, 4) == "gone")
        #expect(changes.isRemoved(path: "a.c", line: 4))
        #expect(changes.added == ["z.c"])
    }

    @Test func testThatOnlyWhatMattersIsTold() async throws {
        let changes = try await changes(["b.c"], files: ["a.c": "x\n", "new.c": "y\n"])
        #expect(changes == SourceChanges())
    }

    @Test func testThatABinaryFileHasNoLines() async throws {
        let changes = try await changes(
            ["a.bin"], files: ["a.bin": "\u{0}\u{1}2"], from: ["a.bin": "\u{0}\u{1}"])
        #expect(changes.files["a.bin"] == SourceChanges.File(path: "a.bin", hunks: nil))
        #expect(line(changes, 1, of: "a.bin") == "a.bin:1")
    }

    @Test(.proves(.issueHistory, "Fingerprints survive renamed files, and code that moves to another file"))
    func testThatAWholeDirectoryOfManyFilesIsFollowed() async throws {
        // given: more renames than are compared with each other
        var (before, after): ([String: String], [String: String]) = ([:], [:])
        for number in 0..<600 {
            before["old/\(number).c"] = "file \(number)\n"
            after["new/\(number).c"] = "file \(number)\n"
        }
        // when
        let changes = try await changes(
            ["old/7.c", "old/599.c"], files: after, removing: Array(before.keys), from: before)
        // then
        #expect(changes.path(of: "old/7.c") == "new/7.c")
        #expect(changes.path(of: "old/599.c") == "new/599.c")
    }

    @Test func testThatACommitThatIsNotThereIsSaid() async throws {
        try await withOrigin { fixture in
            let commit = try await fixture.fetch()
            let unknown = try #require(CommitID("00000000000000000000000000000000000000aa"))
            await expectRejection(SourceControlError.self, \.code, .commitMissing) {
                try await fixture.mirror.changes(from: unknown, to: commit, paths: ["a"])
            }
        }
    }
}
