import Basics
import Model
import SourceControl
import TestSupport
import Testing

/// Repositories that neither libgit2 nor the `git` command can check out for us are reported, and never built as something else.
@Suite struct UnsupportedRepositoryTests {
    @Suite struct GivenGitLFS {
        static let pointer = """
            version https://git-lfs.github.com/spec/v1
            oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393
            size 12345

            """
        static let files = [".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n", "data/a.bin": pointer]

        @Test(
            .proves(
                .sourceControl,
                "Pointers of Git LFS, shallow, partial and SHA-256 repositories are refused with what to do"))
        func testThatAPointerIsRefusedByName() async throws {
            try await withOrigin(Self.files) { fixture in
                let error = await expectRejection(SourceControlError.self, \.code, .unsupported) {
                    _ = try await fixture.checkout()
                }
                expectContains("\(try #require(error))", "\"data/a.bin\" is a pointer of Git LFS")
                expectContains("\(try #require(error))", "lfs: false")
            }
        }

        @Test func testThatItIsWrittenWhenThatIsWanted() async throws {
            try await withOrigin(Self.files) { fixture in
                let commit = try await fixture.fetch()
                _ = try await fixture.mirror.checkout(
                    commit, ref: fixture.main, into: fixture.workspace, state: fixture.state, acceptsPointers: true)
                #expect(try fixture.tree()["data/a.bin"] == Self.pointer)
            }
        }

        /// The workspace already has the file as it should be.
        @Test(
            .proves(
                .sourceControl,
                "Pointers of Git LFS, shallow, partial and SHA-256 repositories are refused with what to do"))
        func testThatItIsRefusedAgainWhenItIsNotWantedAnyMore() async throws {
            try await withOrigin(Self.files) { fixture in
                let commit = try await fixture.fetch()
                _ = try await fixture.mirror.checkout(
                    commit, ref: fixture.main, into: fixture.workspace, state: fixture.state, acceptsPointers: true)
                await expectRejection(SourceControlError.self, \.code, .unsupported) {
                    _ = try await fixture.checkout()
                }
            }
        }

        /// The samples are from git-lfs's own tests.
        @Test func testThatATextThatLooksLikeOneIsAFile() async throws {
            try await withOrigin([".gitattributes": "*.bin filter=other\n", "a.bin": Self.pointer, "b": Self.pointer]) {
                fixture in
                _ = try await fixture.checkout()
                #expect(try fixture.tree()["b"] == Self.pointer)
            }
        }
    }

    /// Each is made from the fixture's origin. `sh` runs in the directory above.
    @Test(
        .proves(
            .sourceControl, "Pointers of Git LFS, shallow, partial and SHA-256 repositories are refused with what to do"
        ),
        arguments: [
            ("shallow", "git clone -q --depth 1 file://$PWD/kit odd"),
            (
                "partial",
                "git -C kit config uploadpack.allowFilter true; git clone -q --no-checkout --filter=blob:none file://$PWD/kit odd"
            ),
            (
                "extension",
                "git clone -q kit odd && printf '[extensions]\n\tfromTheFuture = true\n[core]\n\trepositoryformatversion = 1\n' >>odd/.git/config"
            ),
            (
                "version",
                "git clone -q kit odd && printf '[extensions]\n\tnoop = true\n[core]\n\trepositoryformatversion = 7\n' >>odd/.git/config"
            ),
            ("sha256", "git init -q --object-format=sha256 -b main odd && git -C odd commit -q --allow-empty -m First"),
        ])
    func testThatALocalRepositoryThatCannotBeMirroredSaysWhy(_ kind: String, _ script: String) async throws {
        try await withOrigin { fixture in
            // given
            _ = try await fixture.origin.commit(files: ["b": "2\n"])
            let above = fixture.directory.path("origin")
            try await runExpectingSuccess(["sh", "-c", script], in: above, environment: GitRepository.environment())
            if kind == "partial" { try await runExpectingSuccess(["rm", "-r", above + "/kit"], in: above) }
            let mirror = Mirrors(
                directory: fixture.directory.path("others"), configuration: GitConfiguration(files: [])
            ).mirror(of: try RemoteURL(above + "/odd", isInsecureAllowed: false))

            // when: twice, because nothing of the first try may count as fetched
            var error: SourceControlError?
            for _ in 0..<2 {
                error = await expectRejection(SourceControlError.self, \.code, .unsupported) {
                    try await mirror.fetch(try await mirror.scan().heads)
                }
            }

            // then
            let words = [
                "shallow": "shallow", "partial": "partial", "sha256": "SHA-256", "extension": "of a newer format",
                "version": "of a newer format",
            ]
            expectContains("\(try #require(error))", try #require(words[kind]))
        }
    }
}
