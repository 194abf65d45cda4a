import Model
import SourceControl
import TestSupport
import Testing

@Suite struct ReadingTests {
    @Test func testThatItReadsACommitsDetails() async throws {
        try await withOrigin { fixture in
            let first = try await fixture.origin.head()
            let date = Timestamp(secondsSinceEpoch: 1_800_000_000)
            let second = try await fixture.origin.commit(
                files: ["a": "1\n"], message: "Add a\n\nBecause it was\nmissing.", date: date)
            _ = try await fixture.fetch()
            let details = try await fixture.mirror.details(of: second)
            #expect(details.id == second)
            #expect(details.parents == [first])
            #expect(details.authorName == "Ada Author")
            #expect(details.authorEmail == "ada@acme.example")
            #expect(details.authoredAt == date)
            #expect(details.committedAt == date)
            #expect(details.subject == "Add a")
            #expect(details.message == "Add a\n\nBecause it was\nmissing.\n")
            #expect(details.tree == (try await fixture.origin.git("rev-parse", "HEAD^{tree}")))
        }
    }

    @Test func testThatAReaderReadsWhatTheMirrorHasAndMakesNothing() async throws {
        try await withOrigin(["a.c": "int a;\n", "large": String(repeating: "x", count: 200)]) { fixture in
            // given
            let commit = try await fixture.origin.commit()
            let mirrors = Mirrors(directory: fixture.directory.path("repositories"))
            let reader = mirrors.reader(of: fixture.mirror.url)
            // when
            let before = await reader.files(["a.c"], at: commit, limit: 100) { false }
            _ = try await fixture.fetch()
            let after = await reader.files(["a.c", "large", "gone", "../a.c"], at: commit, limit: 100) { false }
            let late = await reader.files(["a.c"], at: commit, limit: 100) { true }
            // then
            #expect(before.isEmpty && late.isEmpty)
            #expect(after == ["a.c": Array("int a;\n".utf8)])
        }
    }

    @Test(.proves(.sourceControl, "The recipe is read from the mirror's tree, before any checkout"), .threat("P4"))
    func testThatItReadsFilesAndNothingElse() async throws {
        try await withOrigin([".martlet.yml": "build: make\n", "d/e/f": "deep\n"]) { fixture in
            try await runExpectingSuccess(["ln", "-s", ".martlet.yml", "link"], in: fixture.origin.path)
            try await runExpectingSuccess(["ln", "-s", "d", "dirlink"], in: fixture.origin.path)
            let commit = try await fixture.origin.commit()
            _ = try await fixture.fetch()
            func text(_ path: String) async throws -> String? {
                try await fixture.mirror.file(path, at: commit, limit: 100).map { String(decoding: $0, as: UTF8.self) }
            }
            #expect(try await text(".martlet.yml") == "build: make\n")
            #expect(try await text("d/e/f") == "deep\n")
            for path in [
                "link", "dirlink/e/f", "d", "absent", "d/absent", "", "/d/e/f", "d//e/f", "../x", ".",
                "../../etc/passwd", "/etc/passwd", "file:///etc/passwd", "d/../../../etc/passwd",
            ] {
                #expect(try await text(path) == nil, "\(path)")
            }
            await expectRejection(SourceControlError.self, \.code, .tooLarge) {
                try await fixture.mirror.file(".martlet.yml", at: commit, limit: 11)
            }
            #expect(try await fixture.mirror.rootEntries(of: commit) == [".martlet.yml", "d", "dirlink", "link"])
        }
    }

    @Test func testThatItListsTheCommitsBetweenTwo() async throws {
        try await withOrigin { fixture in
            let first = try await fixture.origin.head()
            var ids: [CommitID] = []
            for number in 1...3 {
                ids.append(try await fixture.origin.commit(files: ["a": "\(number)\n"], message: "\(number)"))
            }
            _ = try await fixture.fetch()
            let mirror = fixture.mirror
            #expect(try await mirror.commits(from: first, to: ids[2], limit: 10).map(\.id) == ids.reversed())
            #expect(try await mirror.commits(from: nil, to: ids[2], limit: 2).map(\.subject) == ["3", "2"])
            let unknown = try #require(CommitID("00000000000000000000000000000000000000aa"))
            #expect(try await mirror.commits(from: unknown, to: ids[2], limit: 10).map(\.id) == [ids[2]])
            #expect(try await mirror.isAncestor(first, of: ids[2]))
            #expect(try await mirror.isAncestor(first, of: first))
            #expect(try await mirror.isAncestor(ids[2], of: first) == false)
        }
    }

    @Test func testThatItResolvesExactRefsAndIdsOnly() async throws {
        try await withOrigin { fixture in
            let commit = try await fixture.origin.head()
            try await fixture.origin.tag("v1", message: "One")
            _ = try await fixture.fetch()
            let mirror = fixture.mirror
            for revision in [
                "refs/heads/main", "refs/tags/v1", commit.description, String(commit.description.prefix(7)),
            ] {
                #expect(try await mirror.resolve(revision) == commit)
            }
            #expect(try await mirror.resolve(commit.description.uppercased()) == commit)
            for revision in ["refs/heads/absent", "refs/tags/main", "0000000", String(repeating: "0", count: 40)] {
                #expect(try await mirror.resolve(revision) == nil)
            }
        }
    }

    /// G12.
    @Test(
        .threat("G12"),
        arguments: [
            "@{-1}", "HEAD^{/(a+)+$}", ":/x", "HEAD", "main", "main~1", "refs/heads/main^", "refs/heads/main@{0}",
            "refs/heads/../x",
            "refs/heads/", "refs/martlet/kit/1", "--help", "", "abcdef", "refs/heads/a b", "refs/heads/x.lock",
            "refs/heads/main\u{0}", "refs/heads/$(id)\n", String(repeating: "a", count: 41),
        ])
    func testThatItRefusesToResolve(_ revision: String) async throws {
        try await withOrigin { fixture in
            _ = try await fixture.fetch()
            await expectRejection(SourceControlError.self, \.code, .invalidRevision) {
                try await fixture.mirror.resolve(revision)
            }
        }
    }

    @Test func testThatItExportsTheTrackedFiles() async throws {
        try await withOrigin([".gitattributes": "a text eol=crlf\n", "a": "1\n", "d/run": "#!/bin/sh\n"]) { fixture in
            let commit = try await fixture.fetch()
            let target = fixture.directory.path("export")
            try await fixture.mirror.export(commit, into: target)
            #expect(
                try fixture.tree(target) == [
                    ".gitattributes": "a text eol=crlf\n", "a": "1\r\n", "d/run": "#!/bin/sh\n",
                ])
            await expectRejection(SourceControlError.self, \.code, .file) {
                try await fixture.mirror.export(commit, into: target)
            }
        }
    }
}
