import Forges
import Model
import TestSupport
import Testing

@Suite struct ForgeLinksTests {
    private static let commit = CommitID(String(repeating: "a", count: 40))
    private static let old = CommitID(String(repeating: "b", count: 40))

    private static func bot(_ repository: String, forge: ForgeKind? = nil, status: StatusTarget? = nil)
        -> BotSpecification
    {
        var bot = BotSpecification(name: Name(nearest: "kit"), repository: repository, status: status)
        bot.forge = forge
        return bot
    }

    private static func links(_ repository: String, _ forge: ForgeKind? = nil) -> ForgeLinks? {
        ForgeLinks(of: repository, bot: bot(repository, forge: forge))
    }

    @Test(
        .proves(
            .web, "Pages link to the forge's commit, comparison, branch, pull request, file and line, for seven forges"),
        arguments: [
            (
                "https://github.com/acme/kit.git", nil as ForgeKind?, "https://github.com/acme/kit", "/commit/NEW",
                "/compare/OLD...NEW", "/tree/a/b%23c", "/pull/7", "/blob/NEW/Sources/a%20b.c#L3"
            ),
            (
                "git@gitlab.com:group/sub/kit.git", nil, "https://gitlab.com/group/sub/kit", "/-/commit/NEW",
                "/-/compare/OLD...NEW", "/-/tree/a/b%23c", "/-/merge_requests/7", "/-/blob/NEW/Sources/a%20b.c#L3"
            ),
            (
                "https://git.acme.example:8443/acme/kit", .gitea, "https://git.acme.example:8443/acme/kit",
                "/commit/NEW",
                "/compare/OLD...NEW", "/src/branch/a/b%23c", "/pulls/7", "/src/commit/NEW/Sources/a%20b.c#L3"
            ),
            (
                "ssh://git@codeberg.org:2222/acme/kit.git", nil, "https://codeberg.org/acme/kit", "/commit/NEW",
                "/compare/OLD...NEW", "/src/branch/a/b%23c", "/pulls/7", "/src/commit/NEW/Sources/a%20b.c#L3"
            ),
            (
                "http://gogs.local/acme/kit.git", .gogs, "http://gogs.local/acme/kit", "/commit/NEW",
                "/compare/OLD...NEW",
                "/src/a/b%23c", "/pulls/7", "/src/NEW/Sources/a%20b.c#L3"
            ),
            (
                "https://bitbucket.org/acme/kit.git", nil, "https://bitbucket.org/acme/kit", "/commits/NEW",
                "/branches/compare/NEW..OLD", "/branch/a/b%23c", "/pull-requests/7", "/src/NEW/Sources/a%20b.c#lines-3"
            ),
            (
                "https://git.acme.example/scm/KIT/kit.git", .bitbucketServer,
                "https://git.acme.example/projects/KIT/repos/kit", "/commits/NEW",
                "/compare/commits?sourceBranch=NEW&targetBranch=OLD", "/browse?at=refs%2Fheads%2Fa%2Fb%23c",
                "/pull-requests/7", "/browse/Sources/a%20b.c?at=NEW#3"
            ),
        ])
    func testThatAForgesPagesHaveItsAddresses(
        _ address: String, _ forge: ForgeKind?, _ root: String, _ commit: String, _ comparison: String,
        _ branch: String, _ pull: String, _ file: String
    ) throws {
        // given
        let links = try #require(Self.links(address, forge))
        let (new, old) = (try #require(Self.commit), try #require(Self.old))
        func full(_ path: String) -> String {
            root + path.replacing("NEW", with: new.description).replacing("OLD", with: old.description)
        }
        // then
        #expect(links.repository == root)
        #expect(links.commit(new) == full(commit))
        #expect(links.comparison(from: old, to: new) == full(comparison))
        #expect(links.ref(RefName(branch: "a/b#c")) == root + branch)
        #expect(links.ref(RefName(pullRequest: 7)) == root + pull)
        #expect(links.file("Sources/a b.c", line: 3, at: new) == full(file))
    }

    @Test func testThatTheStatussAddressTellsThePages() throws {
        // given
        let repository = "ssh://git@internal:7999/~ann/kit.git"
        let commit = try #require(Self.commit)
        func links(_ forge: StatusForge, _ api: String, _ project: String) -> String? {
            let status = StatusTarget(forge: forge, credentials: "token", api: api, project: project)
            return ForgeLinks(of: repository, bot: Self.bot(repository, status: status))?.commit(commit)
        }
        // then
        #expect(
            links(.github, "https://ghe.acme.example/api/v3", "acme/kit")
                == "https://ghe.acme.example/acme/kit/commit/\(commit)")
        #expect(
            links(.gitlab, "https://acme.example/gitlab/api/v4", "acme/kit")
                == "https://acme.example/gitlab/acme/kit/-/commit/\(commit)")
        #expect(
            links(.bitbucketServer, "https://acme.example/bitbucket/rest/api/latest", "~ann/kit")
                == "https://acme.example/bitbucket/users/ann/repos/kit/commits/\(commit)")
        #expect(links(.github, "https://api.github.com", "acme/kit") == "https://github.com/acme/kit/commit/\(commit)")
        #expect(links(.gitea, "https://acme.example/other", "acme/kit") == nil)
    }

    @Test(arguments: [
        ("/srv/git/kit.git", nil as ForgeKind?), ("https://git.acme.example/kit", nil), ("/srv/git/kit.git", .gitea),
    ])
    func testThatAnUnknownForgeHasNoLinks(_ address: String, _ forge: ForgeKind?) {
        #expect(Self.links(address, forge) == nil)
    }

    /// For git it is a path at a host of that name.
    @Test(.threat("X1")) func testThatAnAddressLikeAScriptsIsAPageOfItsHost() {
        #expect(Self.links("javascript:alert(1)", .github)?.repository == "https://javascript/alert%281%29")
    }

    @Test(
        .threat("X1"),
        arguments: [
            "../../../evil", "/etc/passwd", "a//b", "a/./b", "", "a/..",
        ])
    func testThatAPathThatIsNoFilesHasNoLink(_ path: String) throws {
        let links = try #require(Self.links("https://github.com/acme/kit"))
        #expect(links.file(path, line: 1, at: try #require(Self.commit)) == nil)
    }

    @Test(.threat("X1")) func testThatHostileNamesArePercentEncoded() throws {
        // given
        let links = try #require(Self.links("https://github.com/acme/kit"))
        let commit = try #require(Self.commit)
        // when
        let branch = links.ref(RefName(branch: "\"><script>?x=1#y%2e\u{202E}"))
        let file = links.file("a?b\"c", line: -1, at: commit)
        // then
        #expect(branch == "https://github.com/acme/kit/tree/%22%3E%3Cscript%3E%3Fx%3D1%23y%252e%E2%80%AE")
        #expect(file == "https://github.com/acme/kit/blob/\(commit)/a%3Fb%22c")
    }
}
