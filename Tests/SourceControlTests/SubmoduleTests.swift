import Basics
import Encodings
import Model
import TestSupport
import Testing

@testable import SourceControl

/// The checkout of a commit's submodules, and the rules for their addresses.
@Suite(.threat("G6")) struct SubmoduleTests {
    /// Runs a test with a repository `origin/kit` with submodules beside it, all local.
    static func withSubmodules(
        _ links: [(path: String, url: String)] = [("vendor/lib", "../lib")],
        _ body: (Fixture, _ library: GitRepository, _ mirrors: Mirrors) async throws -> Void
    ) async throws {
        try await withOrigin([".gitignore": "*.o\n", "README": "kit\n"]) { fixture in
            let library = try await GitRepository.make(at: fixture.directory.path("origin/lib"))
            _ = try await library.commit(files: ["lib.c": "int lib;\n", "run": "#!/bin/sh\n", ".gitignore": "gen\n"])
            try await link(links, to: try await library.head(), in: fixture.origin)
            let mirrors = Mirrors(
                directory: fixture.directory.path("repositories"), configuration: GitConfiguration(files: []))
            try await body(fixture, library, mirrors)
        }
    }

    static func link(
        _ links: [(path: String, url: String)], to commit: CommitID, in repository: GitRepository
    ) async throws {
        let text = links.map { "[submodule \"../../\($0.path)\"]\n\tpath = \($0.path)\n\turl = \($0.url)\n" }.joined()
        try Directory(opening: repository.path).write(".gitmodules", bytes: Array(text.utf8))
        try await repository.git("add", ".gitmodules")
        for link in links {
            try await repository.git("update-index", "--add", "--cacheinfo", "160000,\(commit),\(link.path)")
        }
        let date = Timestamp(secondsSinceEpoch: 1_767_300_000)
        try await repository.git(["commit", "-q", "-m", "Link"], date: date)
    }

    private static func checkout(_ fixture: Fixture, _ mirrors: Mirrors) async throws -> CheckoutReport {
        let commit = try await fixture.fetch()
        try await mirrors.fetchSubmodules(of: commit, in: fixture.mirror)
        let submodules = try await mirrors.submodules(of: commit, in: fixture.mirror)
        return try await fixture.mirror.checkout(
            commit, ref: fixture.main, into: fixture.workspace, state: fixture.state, submodules: submodules)
    }

    @Test(
        .proves(
            .sourceControl,
            "Submodules by the commit that the tree names, and theirs, under the same path rules; `git status` of the job finds nothing changed"
        ))
    func testThatTheCommitThatTheTreeNamesIsCheckedOut() async throws {
        try await Self.withSubmodules { fixture, library, mirrors in
            // given: the submodule's branch has moved on
            _ = try await library.commit(files: ["lib.c": "int later;\n"])

            // when
            let report = try await Self.checkout(fixture, mirrors)

            // then
            #expect(report.submodules.isEmpty)
            #expect(try fixture.tree()["vendor/lib/lib.c"] == "int lib;\n")
            #expect(try fixture.status("vendor/lib/run")?.mode == 0o755)
            let status = try await runExpectingSuccess(
                ["git", "status", "--porcelain"], in: fixture.workspace, environment: GitRepository.environment())
            #expect(status == "")
        }
    }

    @Test func testThatTheNextCheckoutWritesWhatHasChangedAndKeepsWhatIsIgnored() async throws {
        try await Self.withSubmodules { fixture, library, mirrors in
            // given
            _ = try await Self.checkout(fixture, mirrors)
            let tree = try Directory(opening: fixture.workspace)
            for name in ["vendor/lib/gen", "vendor/lib/x.o", "vendor/lib/left"] { try tree.write(name, bytes: []) }
            let commit = try await library.commit(files: ["lib.c": "int later;\n"])
            try await Self.link([("vendor/lib", "../lib")], to: commit, in: fixture.origin)

            // when
            let report = try await Self.checkout(fixture, mirrors)

            // then
            #expect((report.written, report.removed, report.isFresh) == (1, 2, false))
            #expect(try fixture.tree()["vendor/lib/lib.c"] == "int later;\n")
            #expect(try tree.status("vendor/lib/gen") != nil)
            #expect(try tree.status("vendor/lib/left") == nil)
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "Submodules by the commit that the tree names, and theirs, under the same path rules; `git status` of the job finds nothing changed"
        ))
    func testThatSubmodulesOfSubmodulesComeAlong() async throws {
        try await Self.withSubmodules { fixture, library, mirrors in
            let inner = try await GitRepository.make(at: fixture.directory.path("origin/inner"))
            let commit = try await inner.commit(files: ["inner.c": "1\n"])
            try await Self.link([("deep", "../inner")], to: commit, in: library)
            try await Self.link([("vendor/lib", "../lib")], to: try await library.head(), in: fixture.origin)
            _ = try await Self.checkout(fixture, mirrors)
            #expect(try fixture.tree()["vendor/lib/deep/inner.c"] == "1\n")
        }
    }

    /// G6: a repository that is its own submodule.
    @Test(
        .proves(
            .sourceControl,
            "A submodule's address may have no options, helpers and paths, and name another host only by https, without credentials, at a public address (G1, G2, G6)"
        ))
    func testThatTheyEndSomewhere() async throws {
        try await Self.withSubmodules { fixture, library, mirrors in
            var commit = try await library.head()
            for _ in 0..<6 {
                try await Self.link([("again", "../lib")], to: commit, in: library)
                commit = try await library.head()
            }
            try await Self.link([("vendor/lib", "../lib")], to: commit, in: fixture.origin)
            let error = await expectRejection(SourceControlError.self, \.code, .tooLarge) {
                try await Self.checkout(fixture, mirrors)
            }
            expectContains("\(try #require(error))", "vendor/lib/again/again/again/again")
        }
    }

    @Test func testThatOneThatIsNotToBeHadIsNamed() async throws {
        try await Self.withSubmodules([("vendor/lib", "../absent")]) { fixture, _, mirrors in
            let error = await expectRejection(SourceControlError.self, \.code, .repositoryNotFound) {
                try await Self.checkout(fixture, mirrors)
            }
            expectContains("\(try #require(error))", "fetch of the submodule vendor/lib")
        }
    }

    @Test func testThatACommitThatIsNotThereIsNamed() async throws {
        try await Self.withSubmodules { fixture, _, mirrors in
            let absent = try #require(CommitID("00000000000000000000000000000000000000aa"))
            try await Self.link([("vendor/lib", "../lib")], to: absent, in: fixture.origin)
            let error = await expectRejection(SourceControlError.self, \.code, .refGone) {
                try await Self.checkout(fixture, mirrors)
            }
            expectContains("\(try #require(error))", "does not have the commit \(absent)")
        }
    }

    @Test func testThatOneWithoutAnAddressStaysAnEmptyDirectory() async throws {
        try await Self.withSubmodules([]) { fixture, library, mirrors in
            let commit = try await library.head()
            try await fixture.origin.git("update-index", "--add", "--cacheinfo", "160000,\(commit),vendor/lib")
            try await fixture.origin.git(["commit", "-q", "-m", "Unregistered"])
            #expect(try await Self.checkout(fixture, mirrors).submodules == ["vendor/lib"])
        }
    }

    /// G6: a job's file in a submodule's place is removed, never followed.
    /// As in git, each repository's rules are for its own files.
    @Test(
        .proves(
            .sourceControl,
            "A submodule has its own rules; credentials go to the repository's own host and port alone; strangers' submodules have mirrors of their own"
        ))
    func testThatTheParentsRulesAreNotTheSubmodules() async throws {
        try await Self.withSubmodules { fixture, library, mirrors in
            // given
            _ = try await library.commit(files: [".gitattributes": "*.h text eol=crlf\n", "lib.h": "int;\n"])
            try await Self.link([("vendor/lib", "../lib")], to: try await library.head(), in: fixture.origin)
            try Directory(opening: fixture.origin.path).write(".gitattributes", bytes: Array("* text eol=crlf\n".utf8))
            try await fixture.origin.git("add", ".gitattributes")
            let date = Timestamp(secondsSinceEpoch: 1_767_400_000)
            try await fixture.origin.git(["commit", "-q", "-m", "Rules"], date: date)

            // when
            _ = try await Self.checkout(fixture, mirrors)
            for name in ["vendor/lib/gen", "vendor/lib/a.o", "a.o"] {
                try Directory(opening: fixture.workspace).write(name, bytes: [])
            }
            _ = try await Self.checkout(fixture, mirrors)

            // then
            let tree = try fixture.tree()
            #expect(tree["README"] == "kit\r\n")
            #expect(tree["vendor/lib/run"] == "#!/bin/sh\n")
            #expect(tree["vendor/lib/lib.h"] == "int;\r\n")
            #expect(
                tree.keys.filter { $0.hasSuffix("gen") || $0.hasSuffix(".o") }.sorted() == ["a.o", "vendor/lib/gen"])
        }
    }

    /// The repository's own undamaged mirror is left alone.
    @Test(
        .proves(
            .sourceControl,
            "A damaged pack, ref or HEAD is repaired by the next fetch, with all holds; only damaged files are removed")
    )
    func testThatADamagedMirrorOfASubmoduleIsMended() async throws {
        try await Self.withSubmodules { fixture, library, mirrors in
            // given
            let commit = try await fixture.fetch()
            try await mirrors.fetchSubmodules(of: commit, in: fixture.mirror)
            let module = try #require(try await mirrors.submodules(of: commit, in: fixture.mirror).first)
            let blob = try await library.git("rev-parse", "HEAD:lib.c")
            let script = """
                set -e; mkdir -p objects/pack; mv objects/pack p
                for i in p/*.pack; do [ ! -e "$i" ] || git unpack-objects -q < "$i"; done; rm -rf p; mkdir objects/pack
                rm -f objects/\(blob.prefix(2))/\(blob.dropFirst(2))
                """
            try await runExpectingSuccess(["sh", "-c", script], in: module.mirror.path)
            let before = try Directory(opening: fixture.mirror.path).status("objects")?.inode

            // when
            await expectRejection(SourceControlError.self, \.code, .submoduleDamaged) {
                try await Self.checkout(fixture, mirrors)
            }
            _ = try await Self.checkout(fixture, mirrors)

            // then
            #expect(try fixture.tree()["vendor/lib/lib.c"] == "int lib;\n")
            #expect(try Directory(opening: fixture.mirror.path).status("martlet-damaged") == nil)
            #expect(try Directory(opening: fixture.mirror.path).status("objects")?.inode == before)
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "Submodules by the commit that the tree names, and theirs, under the same path rules; `git status` of the job finds nothing changed"
        ))
    func testThatAPlantedLinkInASubmodulesPlaceIsRemoved() async throws {
        try await Self.withSubmodules { fixture, _, mirrors in
            // given
            _ = try await Self.checkout(fixture, mirrors)
            let outside = try fixture.directory.write("outside/lib.c", "precious\n")
            let tree = try Directory(opening: fixture.workspace)
            try tree.remove("vendor/lib")
            try tree.makeLink("vendor/lib", target: Array(fixture.directory.path("outside").utf8))

            // when
            _ = try await Self.checkout(fixture, mirrors)

            // then
            expectFile(outside, "precious\n")
            #expect(try fixture.status("vendor/lib")?.kind == .directory)
            #expect(try fixture.tree()["vendor/lib/lib.c"] == "int lib;\n")
        }
    }

    /// G6 and G5: a tree in a submodule must follow the same rules as the commit's own.
    @Test(
        .proves(
            .sourceControl,
            "Submodules by the commit that the tree names, and theirs, under the same path rules; `git status` of the job finds nothing changed"
        ))
    func testThatASubmodulesHostileTreeIsRefused() async throws {
        try await Self.withSubmodules { fixture, library, mirrors in
            try await commitTree(["040000 tree TREE\t.GIT"], in: library)
            try await Self.link([("vendor/lib", "../lib")], to: try await library.head("main"), in: fixture.origin)
            let error = await expectRejection(SourceControlError.self, \.code, .treeRefused) {
                try await Self.checkout(fixture, mirrors)
            }
            expectContains("\(try #require(error))", "vendor/lib/.GIT")
        }
    }

    @Suite struct GivenAnAddress {
        private static let kit = "https://git.example.org/acme/kit.git"

        @Test(arguments: [
            ("../lib.git", kit, "https://git.example.org/acme/lib.git", true),
            ("./../../other/lib", kit, "https://git.example.org/other/lib", true),
            ("../lib", "git@git.example.org:acme/kit.git", "git@git.example.org:acme/lib", true),
            ("../lib", "/srv/git/kit", "/srv/git/lib", true),
            ("https://github.com/a/b", kit, "https://github.com/a/b", false),
            ("ssh://git@git.example.org/a/b", kit, "ssh://git@git.example.org/a/b", true),
        ])
        func testThatItIsFollowed(_ text: String, _ parent: String, _ expected: String, _ isOwnHost: Bool) throws {
            let parent = try RemoteURL(parent, isInsecureAllowed: true)
            let address = try SubmoduleAddress(text, parent: parent, root: parent)
            #expect((address.url.description, address.isOwnHost) == (expected, isOwnHost))
        }

        @Test(
            .proves(
                .sourceControl,
                "A submodule has its own rules; credentials go to the repository's own host and port alone; strangers' submodules have mirrors of their own"
            ),
            arguments: [
                ("../lib", kit, true, true), ("https://git.example.org/b", kit, true, true),
                ("https://git.example.org:8443/b", kit, false, false),
                ("ssh://git@git.example.org/b", kit, true, false),
                ("https://git.example.org/b", "https://git.example.org:8443/kit", true, false),
                ("https://git.example.org:8443/b", "https://git.example.org:8443/kit", true, true),
                ("https://other.example.org/b", kit, false, false),
            ])
        func testWhatItIsTrustedWith(_ text: String, _ parent: String, _ isOwn: Bool, _ hasCredentials: Bool) throws {
            let parent = try RemoteURL(parent, isInsecureAllowed: true)
            let address = try SubmoduleAddress(text, parent: parent, root: parent)
            #expect((address.isOwnHost, address.takesCredentials) == (isOwn, hasCredentials))
        }

        /// A fork's commit that names a repository does not get what a bot has mirrored with its credentials.
        @Test(
            .proves(
                .sourceControl,
                "A submodule has its own rules; credentials go to the repository's own host and port alone; strangers' submodules have mirrors of their own"
            ))
        func testThatStrangersHaveMirrorsOfTheirOwn() throws {
            let mirrors = Mirrors(directory: "/nowhere", configuration: GitConfiguration(files: []))
            let url = try RemoteURL("https://git.example.org/acme/secret", isInsecureAllowed: false)
            let own = mirrors.mirror(of: url, credentials: Credentials(user: "ci", password: "x"))
            for kind in [Mirrors.Kind.publicOnly, .withoutCredentials] {
                #expect(own.path != mirrors.mirror(of: url, credentials: nil, kind: kind).path)
            }
        }

        /// G1 and G6.
        @Test(
            .proves(
                .sourceControl,
                "A submodule's address may have no options, helpers and paths, and name another host only by https, without credentials, at a public address (G1, G2, G6)"
            ),
            .threat("G1"),
            arguments: [
                ("-u./p", kit), ("--upload-pack=x", kit), ("file:///etc", kit), ("/srv/git/other", kit),
                ("ext::sh -c id", kit),
                ("ExT::sh -c id", kit), ("ssh://-oProxyCommand=x/y", kit), ("./../../..//evil", kit),
                ("../../../../x", kit),
                ("../a/../../../b", kit), ("../-x/../..", kit), ("http://git.example.org/x", kit),
                ("git://git.example.org/x", kit),
                ("ssh://git@other.example.org/x", kit), ("git@other.example.org:x", kit), ("https://h/%0a/x", kit),
                ("https://user:pass@h/x", kit), ("", kit), ("../../etc/passwd", "/srv/git/kit"),
                ("../../../x", "/srv/git/kit"),
                ("./.git/modules/x", "/srv/git/kit"), ("../lib\r", kit), ("../li b", kit), ("C:\\x", kit),
            ])
        func testThatItIsRefused(_ text: String, _ parent: String) async throws {
            let parent = try RemoteURL(parent, isInsecureAllowed: true)
            await expectRejection(SourceControlError.self, \.code, .invalidURL) {
                try SubmoduleAddress(text, parent: parent, root: parent)
            }
        }

        /// G2: a commit names a machine that only this one can reach.
        @Test(
            .proves(
                .sourceControl,
                "A submodule's address may have no options, helpers and paths, and name another host only by https, without credentials, at a public address (G1, G2, G6)"
            ), .threat("G2"), arguments: ["127.0.0.1", "localhost", "127.1", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]"])
        func testThatAPrivateAddressIsNeverConnectedTo(_ host: String) async throws {
            let server = try LoopbackSocket()
            defer { server.stop() }
            let url = "https://\(host):\(server.port)/x"
            try await SubmoduleTests.withSubmodules([("vendor/lib", url)]) { fixture, _, mirrors in
                let error = await expectRejection(SourceControlError.self, \.code, .invalidURL) {
                    try await SubmoduleTests.checkout(fixture, mirrors)
                }
                // Some are no URLs at all.
                #expect(error != nil)
                #expect(!server.hasCaller)
                // The listener notices each client.
                #expect(LoopbackSocket.isListening(server.port))
                #expect(server.hasCaller)
            }
        }

        @Test(arguments: [
            ("8.8.8.8", true), ("10.1.2.3", false), ("100.64.0.1", false), ("169.254.169.254", false),
            ("172.31.0.1", false),
            ("172.32.0.1", true), ("192.168.0.1", false), ("198.18.0.1", false), ("224.0.0.1", false),
            ("0.0.0.0", false),
            ("255.255.255.255", false), ("1.1.1.1", true),
        ])
        func testWhichIPv4AddressesArePublic(_ text: String, _ isPublic: Bool) {
            let number = text.split(separator: ".").reduce(UInt32(0)) { $0 << 8 | (UInt32($1) ?? 0) }
            #expect(PublicAddress.isPublic(number) == isPublic)
        }

        @Test(arguments: [
            ("2a00145040010800000000000000200e", true), ("00000000000000000000000000000001", false),
            ("fd000000000000000000000000000001", false), ("fe800000000000000000000000000001", false),
            ("00000000000000000000ffff0a000001", false), ("00000000000000000000ffff08080808", true),
            ("0064ff9b00000000000000007f000001", false), ("20027f00000100000000000000000001", false),
            ("20010db8000000000000000000000001", false), ("ff020000000000000000000000000001", false),
        ])
        func testWhichIPv6AddressesArePublic(_ text: String, _ isPublic: Bool) throws {
            #expect(PublicAddress.isPublic(Hexadecimal.decode(text) ?? []) == isPublic)
        }
    }

    /// gitmodules(5), with git-config(1)'s syntax.
    @Test func testThatItReadsModulesAsGitDoes() {
        let file = ModulesFile(
            Array(
                """
                # comment
                [include]
                \tpath = /etc/passwd
                [submodule "../../x"]
                \tpath = "a b" ; comment
                  URL=../lib\\
                -more
                [SubModule "quoted \\" one"]
                path = c\\"d
                url = "x # y" # z
                update = none
                [submodule "no-path"]
                \turl = z
                [submodule "broken"]
                path = "open
                [core]
                \tpath = evil
                """.utf8))
        #expect(Set(file.modules.keys.map { String(decoding: $0, as: UTF8.self) }) == ["a b", "c\"d"])
        #expect(file.modules[Array("a b".utf8)]?.url == "../lib-more")
        #expect(file.modules[Array("c\"d".utf8)]?.url == "x # y")
        #expect(file.modules[Array("c\"d".utf8)]?.update == "none")
    }
}
