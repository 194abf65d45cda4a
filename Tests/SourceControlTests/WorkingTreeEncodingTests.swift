import Basics
import Model
import SourceControl
import TestSupport
import Testing

/// `working-tree-encoding` of gitattributes(5): files have the bytes that `git clone` writes and `git add` reads.
@Suite(.proves(.sourceControl, "`working-tree-encoding` is honored"))
struct WorkingTreeEncodingTests {
    private static let names = [
        "UTF-16", "utf16", "UTF-16LE", "UTF-16BE", "UTF-16LE-BOM", "UTF-16BE-BOM", "UTF-32", "UTF-32LE", "ISO-8859-1",
        "latin-1", "SHIFT-JIS",
        "windows-1252", "CP1252", "UTF-8", "utf8", "ISO-8859-15", "KOI8-R", "nonsense",
    ]
    private static let text = "grüße\n$Id$\nlast"
    private static let japanese = "日本語\n"

    /// Runs a test with a repository with a file for each encoding, whose blobs are UTF-8, and its clone by git.
    private func withEncodings(
        _ lines: String, without left: Set<String> = [],
        _ body: (Fixture, _ clone: String) async throws -> Void
    ) async throws {
        var (attributes, files) = ("", [String: String]())
        for (number, name) in Self.names.enumerated() where !left.contains(name) {
            attributes += "\(number).* \(lines) working-tree-encoding=\(name)\n"
            files["\(number).de"] = Self.text
            files["\(number).ja"] = Self.japanese
            files["\(number).empty"] = ""
        }
        try await withOrigin(files) { fixture in
            _ = try await fixture.origin.commit(files: ["z": "z\n"])
            try fixture.directory.write("origin/kit/.gitattributes", attributes)
            try await fixture.origin.git("add", ".gitattributes")
            try await fixture.origin.git("commit", "-q", "-m", "Attributes")
            try await runExpectingSuccess(
                ["git", "clone", "-q", fixture.origin.path, fixture.directory.path("clone")],
                environment: GitRepository.environment())
            try await body(fixture, fixture.directory.path("clone"))
        }
    }

    @Test(arguments: ["-text", "text", "text eol=crlf", "text=auto eol=crlf ident", "ident -text"])
    func testThatACheckoutHasTheBytesOfAClone(_ lines: String) async throws {
        try await withEncodings(lines) { fixture, clone in
            // when
            _ = try await fixture.checkout()
            // then
            let (ours, gits) = (
                try Directory(opening: fixture.workspace).inventory(), try Directory(opening: clone).inventory()
            )
            expectNoDifference(ours, gits)
        }
    }

    @Test func testThatASnapshotHasTheBlobsThatGitWouldAdd() async throws {
        // A file that git cannot read in its encoding stops `git add`, and stops a snapshot.
        try await withEncodings("text eol=crlf", without: ["UTF-16BE-BOM", "nonsense"]) { fixture, clone in
            // given: each file is changed in its own encoding
            let directory = try Directory(opening: clone)
            for path in try directory.inventory().keys where !path.starts(with: ".git".utf8) {
                let bytes = try directory.read(path, limit: 1 << 20)
                try directory.write(path + Array(".copy".utf8), bytes: bytes)
            }
            let attempt = try await run(["git", "add", "-A"], in: clone, environment: GitRepository.environment())
            for line in attempt.stderr.split(separator: "\n") where line.hasPrefix("fatal: ") {
                Issue.record("git refuses it: \(line)")
            }
            let tree = try await runExpectingSuccess(
                ["git", "write-tree"], in: clone, environment: GitRepository.environment())
            try await runExpectingSuccess(["git", "reset", "-q"], in: clone, environment: GitRepository.environment())
            // when
            let working = WorkingTree(
                path: clone, repository: fixture.directory.path("ours"), configuration: GitConfiguration(files: []))
            let snapshot = try await working.snapshot()
            // then
            #expect(try await working.mirror.details(of: snapshot.commit).tree + "\n" == tree)
        }
    }

    @Test(arguments: [
        ("UTF-16", "plain", "does not begin with a byte order mark"),
        ("UTF-16LE", "\u{feff}x", "begins with a byte order mark"),
        ("nonsense", "x", "cannot be read in its working-tree-encoding nonsense"),
        ("UTF-8-MAC", "\u{0}", "cannot be read in its working-tree-encoding UTF-8-MAC"),
    ])
    func testThatASnapshotSaysWhatCannotBeRead(_ encoding: String, _ text: String, _ words: String) async throws {
        try await withWorkingTree { fixture in
            // given
            try fixture.directory.write("kit/.gitattributes", "*.x working-tree-encoding=\(encoding)\n")
            try fixture.directory.write(
                "kit/a.x", text.hasPrefix("\u{feff}") ? [0xff, 0xfe, 0x78, 0] : Array(text.utf8))
            // when
            let error = await expectRejection(SourceControlError.self, \.code, .treeRefused) {
                _ = try await fixture.tree.snapshot()
            }
            // then
            expectContains("\(try #require(error))", "\"a.x\"")
            expectContains("\(try #require(error))", words)
        }
    }

    @Test func testThatAnEncodingWithoutANameIsRefused() async throws {
        try await withOrigin(["a": "a\n"]) { fixture in
            // given: it is made without git's index, since git refuses to add a file beside such attributes
            let blob = try await fixture.origin.git(
                ["hash-object", "-w", "--stdin"], input: "a working-tree-encoding\n")
            let others = try await fixture.origin.git("ls-tree", "HEAD")
            let tree = try await fixture.origin.git(
                ["mktree"], input: others + "\n100644 blob \(blob)\t.gitattributes\n")
            let commit = try await fixture.origin.git("commit-tree", "-m", "Attributes", tree)
            try await fixture.origin.git("update-ref", "refs/heads/main", commit)
            // when
            let error = await expectRejection(SourceControlError.self, \.code, .treeRefused) {
                _ = try await fixture.checkout()
            }
            expectContains("\(try #require(error))", "write working-tree-encoding=NAME")
        }
    }
}
