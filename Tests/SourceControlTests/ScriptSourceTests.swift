import Basics
import TestSupport
import Testing

@testable import SourceControl

/// The commit's files that a script outside of the sandbox gets.
@Suite struct ScriptSourceTests {
    /// Exports a commit with these links. Returns the links that exist then, with their targets, and what was left out.
    private func export(_ links: [String: String], in fixture: Fixture) async throws -> (
        links: [String: String], left: [String], path: String
    ) {
        let origin = try Directory(opening: fixture.origin.path)
        for (name, target) in links {
            if let slash = name.lastIndex(of: "/") { try origin.makeDirectories(String(name[..<slash])) }
            try origin.makeLink(name, target: Array(target.utf8))
        }
        _ = try await fixture.origin.commit(message: "Link")
        let target = fixture.directory.path("work/export")
        let left = try await fixture.mirror.exportForScript(try await fixture.fetch(), into: target)
        let found = try fixture.tree(target).filter { $0.value.hasPrefix("-> ") }
        return (found.mapValues { String($0.dropFirst(3)) }, left, target)
    }

    @Test func testThatLinksWithinTheFilesStay() async throws {
        try await withOrigin(["README": "kit\n", "d/e/f": "1\n"]) { fixture in
            // given
            let links = ["a": "README", "d/b": "../README", "d/e/up": "../..", "c": "d/e", "g": "a"]
            // when
            let exported = try await export(links, in: fixture)
            // then
            #expect(exported.links == links)
            #expect(exported.left == [])
        }
    }

    /// They lead to the operator's files, to the service's state, through another link, and to a missing file.
    @Test(
        .proves(
            .triggers,
            "A script starts in an empty directory; no module, option, link or repository among the commit's files influences it or its programs (G7)"
        ),
        arguments: [
            "/etc/passwd", "/", "..", "../secret", "d/../../secret", "../export/README", "up/../../secret", "up/..",
            "nowhere", "VERSION", "d/nowhere/../../../secret",
        ])
    func testThatALinkThatLeadsOutOrNowhereIsLeftOut(_ target: String) async throws {
        try await withOrigin(["README": "kit\n", "d/e/f": "1\n"]) { fixture in
            // given
            try fixture.directory.write("work/secret", "hunter2\n")
            // when
            let exported = try await export(["up": "d/e", "VERSION": target, "d/e/back": "../.."], in: fixture)
            // then
            #expect(exported.links["VERSION"] == (target == "up/.." ? target : nil))
            #expect(exported.left == (target == "up/.." ? [] : ["VERSION"]))
        }
    }

    /// The second link goes up from the target of the first, which is higher than its own name says.
    @Test(
        .proves(
            .triggers,
            "A script starts in an empty directory; no module, option, link or repository among the commit's files influences it or its programs (G7)"
        ))
    func testThatALinkThatLeavesByAnotherLinkIsLeftOut() async throws {
        try await withOrigin(["README": "kit\n", "d/e/f": "1\n"]) { fixture in
            // given
            try fixture.directory.write("work/secret", "hunter2\n")
            // when
            let exported = try await export(["d/e/back": "../..", "VERSION": "d/e/back/../secret"], in: fixture)
            // then
            #expect(exported.links == ["d/e/back": "../.."])
            #expect(exported.left == ["VERSION"])
        }
    }

    /// G7.
    @Test(
        .proves(
            .triggers,
            "A script starts in an empty directory; no module, option, link or repository among the commit's files influences it or its programs (G7)"
        ), arguments: ["", "vendor/", "vendor/deep/"])
    func testThatGitFindsNoRepositoryInThem(_ place: String) async throws {
        let bare = [
            "HEAD": "ref: refs/heads/main\n", "objects/keep": "", "refs/keep": "", "config": "[core]\n\tbare = true\n",
        ]
        let files = Dictionary(uniqueKeysWithValues: bare.map { (place + $0.key, $0.value) })
        try await withOrigin(files.merging(["README": "kit\n"]) { $1 }) { fixture in
            // given: directories that git takes for a repository
            let plain = fixture.directory.path("work/plain")
            let commit = try await fixture.fetch()
            try await fixture.mirror.export(commit, into: plain)
            let asked = { (path: String) in
                try await run(
                    ["git", "-C", path, "rev-parse", "--git-dir"],
                    environment: [
                        "PATH": "/usr/local/bin:/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM": "1", "HOME": "/nonexistent",
                    ])
            }
            #expect(try await asked(plain + "/" + place).status == 0)
            // when
            let sealed = fixture.directory.path("work/sealed")
            #expect(try await fixture.mirror.exportForScript(commit, into: sealed) == [])
            // then
            let answer = try await asked(sealed + "/" + place)
            #expect(answer.status == 128)
            expectContains(answer.stderr, "not a git repository: /dev/null/these-files-are-no-repository")
            #expect(try await asked(sealed).status == 128)
        }
    }
}
