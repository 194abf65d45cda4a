import Basics
import CLibGit2
import Model
import SourceControl
import TestSupport
import Testing

@Suite struct CheckoutTests {
    @Test func testThatItWritesEveryFileOfTheCommit() async throws {
        try await withOrigin(["README": "kit\n", "Sources/kit/a.swift": "let a = 1\n", "run": "#!/bin/sh\n"]) {
            fixture in
            // when
            let report = try await fixture.checkout()

            // then
            #expect(report.isFresh)
            #expect((report.written, report.unchanged, report.removed) == (3, 0, 0))
            #expect(
                try fixture.tree() == ["README": "kit\n", "Sources/kit/a.swift": "let a = 1\n", "run": "#!/bin/sh\n"])
            #expect(try fixture.status("run")?.mode == 0o755)
            #expect(try fixture.status("README")?.mode == 0o644)
        }
    }

    @Suite struct GivenACheckedOutWorkspace {
        /// Files are written under their own names: one is incomplete, one is missing, and one is complete.
        @Test(
            .proves(
                .sourceControl,
                "A checkout writes changed files under their own names; what a kill leaves of them is repaired by the next"
            ))
        func testThatWhatAKillLeftOfFilesIsRepaired() async throws {
            try await withOrigin(["a": "1\n", "b": "1\n", "c": "1\n", "d": "1\n"]) { fixture in
                // given
                _ = try await fixture.checkout()
                let text = String(repeating: "2\n", count: 100)
                let second = try await fixture.origin.commit(files: ["a": text, "b": text, "c": text])
                let tree = try Directory(opening: fixture.workspace)
                try Directory(opening: fixture.state).write("pending", bytes: Array("\(second)\n".utf8))
                try tree.rewrite("a", bytes: Array(text.utf8))
                try tree.rewrite("b", bytes: Array(text.utf8.prefix(50)))
                try tree.remove("c")

                // when
                let report = try await fixture.checkout()

                // then
                #expect(!report.isFresh)
                #expect((report.written, report.unchanged, report.removed) == (2, 2, 0))
                #expect(try fixture.tree() == ["a": text, "b": text, "c": text, "d": "1\n"])
                for name in ["a", "b", "c"] { #expect(try fixture.status(name)?.mode == 0o644) }
            }
        }

        @Test(.proves(.sourceControl, "A checkout is incremental and writes only beneath the workspace's descriptor"))
        func testThatItLeavesUnchangedFilesAlone() async throws {
            try await withOrigin(["a": "1\n", "b": "2\n", "d/c": "3\n"]) { fixture in
                // given
                _ = try await fixture.checkout()
                let before = try #require(try fixture.status("d/c"))
                _ = try await fixture.origin.commit(files: ["a": "changed\n", "new": "4\n"], removing: ["b"])

                // when
                let report = try await fixture.checkout()

                // then
                #expect((report.written, report.removed, report.unchanged) == (2, 1, 1))
                #expect(!report.isFresh)
                #expect(try fixture.status("d/c") == before)
                #expect(try fixture.tree() == ["a": "changed\n", "new": "4\n", "d/c": "3\n"])
            }
        }

        @Test func testThatItRepairsWhatAJobChanged() async throws {
            try await withOrigin(["a": "1\n", "b": "2\n", "c": "3\n"]) { fixture in
                // given
                _ = try await fixture.checkout()
                let tree = try Directory(opening: fixture.workspace)
                try tree.write("a", bytes: Array("x\n".utf8))  // the same size
                try tree.remove("b")
                try tree.write("c", bytes: Array("3\n".utf8))  // touched only
                let touched = try #require(try tree.status("c"))
                try tree.write("untracked", bytes: [])

                // when
                let report = try await fixture.checkout()

                // then
                #expect((report.written, report.removed, report.unchanged) == (2, 1, 1))
                #expect(try fixture.tree() == ["a": "1\n", "b": "2\n", "c": "3\n"])
                #expect(try tree.status("c") == touched)
            }
        }

        @Test(.proves(.sourceControl, "A checkout is incremental and writes only beneath the workspace's descriptor"))
        func testThatItKeepsIgnoredFilesAndRemovesTheOthers() async throws {
            try await withOrigin([
                ".gitignore": ".build/\n*.o\n", "Sources/.gitignore": "generated\n", "Sources/a": "1\n",
            ]) {
                fixture in
                // given
                _ = try await fixture.checkout()
                let tree = try Directory(opening: fixture.workspace)
                for path in [".build/debug/x", "Sources/generated/y", "left/z.o", "left/w", "deep/er/v"] {
                    try tree.makeDirectories(String(path[..<path.lastIndex(of: "/")!]))
                    try tree.write(path, bytes: Array("job\n".utf8))
                }
                // A job's own rule does not count.
                try tree.write(".gitignore", bytes: Array("*\n".utf8))

                // when
                _ = try await fixture.checkout()

                // then
                #expect(
                    Set(try fixture.tree().keys) == [
                        ".gitignore", "Sources/.gitignore", "Sources/a", ".build/debug/x", "Sources/generated/y",
                        "left/z.o",
                    ])
                #expect(try tree.status("deep") == nil)
            }
        }

        @Test func testThatItRemovesAFileThatWasTrackedAndIsIgnoredNow() async throws {
            try await withOrigin(["out/a": "1\n", "out/b": "1\n", "keep": "1\n"]) { fixture in
                _ = try await fixture.checkout()
                _ = try await fixture.origin.commit(files: [".gitignore": "out/\n"], removing: ["out/a", "out/b"])
                _ = try await fixture.checkout()
                #expect(Set(try fixture.tree().keys) == [".gitignore", "keep"])
            }
        }

        @Test(.proves(.sourceControl, "`clean: never, always, daily, weekly`"))
        func testThatItEmptiesItWhenAskedTo() async throws {
            try await withOrigin([".gitignore": "*.o\n"]) { fixture in
                _ = try await fixture.checkout()
                try Directory(opening: fixture.workspace).write("x.o", bytes: [])
                let report = try await fixture.checkout(isClean: true)
                #expect(report.isFresh)
                #expect(try fixture.tree() == [".gitignore": "*.o\n"])
            }
        }

        @Test func testThatItFollowsChangesOfKind() async throws {
            try await withOrigin(["file": "1\n", "dir/inner": "2\n", "mode": "3\n", "link-to-be": "4\n"]) { fixture in
                // given
                _ = try await fixture.checkout()
                try await fixture.origin.git("rm", "-qr", "file", "dir", "link-to-be")
                try await runExpectingSuccess(["ln", "-s", "/etc/passwd", "link-to-be"], in: fixture.origin.path)
                try await runExpectingSuccess(["chmod", "+x", "mode"], in: fixture.origin.path)
                _ = try await fixture.origin.commit(files: ["file/now/a/directory": "5\n", "dir": "6\n"])

                // when
                _ = try await fixture.checkout()

                // then
                let expected = [
                    "file/now/a/directory": "5\n", "dir": "6\n", "mode": "3\n", "link-to-be": "-> /etc/passwd",
                ]
                #expect(try fixture.tree() == expected)
                #expect(try fixture.status("mode")?.mode == 0o755)

                // when: the branch goes back
                try await fixture.origin.git("checkout", "-q", "-B", "main", "HEAD~1")
                _ = try await fixture.checkout()

                // then
                #expect(try fixture.tree() == ["file": "1\n", "dir/inner": "2\n", "mode": "3\n", "link-to-be": "4\n"])
                #expect(try fixture.status("mode")?.mode == 0o644)
            }
        }

        /// A kill in the middle leaves some files of the new commit, and the record of the old one.
        @Test func testThatItRepairsAnInterruptedCheckout() async throws {
            try await withOrigin([".gitignore": "gen\n", "a": "1\n", "b": "1\n"]) { fixture in
                // given
                _ = try await fixture.checkout()
                let state = try Directory(opening: fixture.state)
                let record = try state.read("record", limit: 1 << 20)
                try await fixture.origin.git("checkout", "-q", "-b", "other")
                try await runExpectingSuccess(["sh", "-c", "echo 2 > gen; git add -f gen"], in: fixture.origin.path)
                let interrupted = try await fixture.origin.commit(files: ["a": "2\n", "b": "2\n"])
                _ = try await fixture.checkout(RefName(branch: "other"))
                let tree = try Directory(opening: fixture.workspace)
                try tree.write("b", bytes: Array("1\n".utf8))
                try state.write("record", bytes: record)
                try state.write("pending", bytes: Array("\(interrupted)\n".utf8))

                // when
                let report = try await fixture.checkout()

                // then
                #expect(try fixture.tree() == [".gitignore": "gen\n", "a": "1\n", "b": "1\n"])
                #expect(!report.isFresh)
                #expect(try await fixture.checkout().written == 0)
            }
        }

        @Test(arguments: ["cut", "garbage", "gone"])
        func testThatItBeginsAfreshWhenItsRecordIsUnreadable(_ damage: String) async throws {
            try await withOrigin { fixture in
                _ = try await fixture.checkout()
                try Directory(opening: fixture.workspace).write("left", bytes: [])
                let state = try Directory(opening: fixture.state)
                let record = try state.read("record", limit: 1 << 20)
                switch damage {
                case "cut": try state.write("record", bytes: Array(record.dropLast(3)))
                case "garbage": try state.write("record", bytes: [1, 2, 3])
                default: try state.remove("record")
                }
                #expect(try await fixture.checkout().isFresh)
                #expect(try fixture.tree() == ["README": "kit\n"])
            }
        }

        @Test func testThatItAppliesChangedAttributes() async throws {
            try await withOrigin(["a.txt": "1\n2\n"]) { fixture in
                _ = try await fixture.checkout()
                _ = try await fixture.origin.commit(files: [".gitattributes": "*.txt text eol=crlf\n"])
                _ = try await fixture.checkout()
                #expect(try fixture.tree()["a.txt"] == "1\r\n2\r\n")
            }
        }
    }

    @Test func testThatItAppliesTheCommitsFiltersAndRunsNone() async throws {
        let attributes = "crlf text eol=crlf\nid ident\nlarge filter=lfs\nsub/* text\n"
        try await withOrigin([".gitattributes": attributes, "crlf": "1\n", "id": "$Id$\n", "large": "pointer\n"]) {
            fixture in
            _ = try await fixture.checkout()
            let tree = try fixture.tree()
            #expect(tree["crlf"] == "1\r\n")
            #expect(tree["large"] == "pointer\n")
            let blob = try await fixture.origin.git("rev-parse", "HEAD:id")
            #expect(tree["id"] == "$Id: \(blob) $\n")
        }
    }

    @Test func testThatItMakesSubmodulesEmptyDirectoriesAndSaysSo() async throws {
        try await withOrigin { fixture in
            let commit = try await fixture.origin.head()
            try await fixture.origin.git("update-index", "--add", "--cacheinfo", "160000,\(commit),vendor/lib")
            try await fixture.origin.git(["commit", "-q", "-m", "Submodule"])
            let report = try await fixture.checkout()
            #expect(report.submodules == ["vendor/lib"])
            #expect(try fixture.status("vendor/lib")?.kind == .directory)
            #expect(try await fixture.checkout().isFresh == false)
        }
    }

    @Test func testThatItKeepsNamesThatAreNotText() async throws {
        try await withOrigin { fixture in
            let blob = try await fixture.origin.git(["hash-object", "-w", "--stdin"], input: "x\n")
            let script = "printf '100644 blob \(blob)\\tcaf\\351\\n100644 blob \(blob)\\tback\\\\slash\\n' | git mktree"
            let tree = try await runExpectingSuccess(
                ["sh", "-c", script], in: fixture.origin.path, environment: GitRepository.environment())
            let commit = try await fixture.origin.git(["commit-tree", "-m", "x", String(tree.dropLast())])
            try await fixture.origin.git("update-ref", "refs/heads/main", commit)
            #expect(try await fixture.checkout().written == 2)
            let names = try Directory(opening: fixture.workspace).entries().map(\.bytes)
            #expect(names.contains([0x63, 0x61, 0x66, 0xe9]))
            #expect(names.contains(Array("back\\slash".utf8)))
        }
    }
}
