import Model
import Settings
import TestSupport
import Testing

/// The settings of a bot file for commit statuses.
@Suite struct StatusReaderTests {
    private func read(_ status: String, repository: String, insecure: Bool = false) -> Reading<BotSpecification> {
        BotFileReader.read(
            yaml: "repository: \(repository)\n\(insecure ? "insecure: true\n" : "")status: \(status)\n",
            file: "bots/kit.yml", name: Name(nearest: "kit"))
    }

    @Test(
        .proves(
            .intake,
            "`status:` in the bot file: forge, interface and repository follow from `repository`, never from an event"),
        arguments: [
            (
                "{ credentials: t }", "https://github.com/acme/kit.git", StatusForge.github,
                "https://api.github.com", "acme/kit"
            ),
            ("{ credentials: t }", "git@github.com:acme/kit.git", .github, "https://api.github.com", "acme/kit"),
            (
                "{ credentials: t }", "ssh://git@ssh.github.com:443/acme/kit.git", .github, "https://api.github.com",
                "acme/kit"
            ),
            (
                "{ credentials: t, forge: github }", "https://git.acme.example/acme/kit", .github,
                "https://git.acme.example/api/v3", "acme/kit"
            ),
            ("{ credentials: t }", "https://gitlab.com/a/b/kit.git", .gitlab, "https://gitlab.com/api/v4", "a/b/kit"),
            (
                "{ credentials: t }", "https://codeberg.org/acme/kit.git", .forgejo, "https://codeberg.org/api/v1",
                "acme/kit"
            ),
            (
                "{ credentials: t, forge: gitea }", "https://Git.Example:3000/acme/Kit.git/", .gitea,
                "https://git.example:3000/api/v1", "acme/Kit"
            ),
            (
                "{ credentials: t, forge: gitea }", "ssh://git@git.example:2222/acme/kit", .gitea,
                "https://git.example/api/v1", "acme/kit"
            ),
            (
                "{ credentials: t }", "https://bitbucket.org/acme/kit.git", .bitbucket, "https://api.bitbucket.org/2.0",
                "acme/kit"
            ),
            (
                "{ credentials: t, forge: bitbucket-server }", "https://bb.example/scm/KEY/kit.git", .bitbucketServer,
                "https://bb.example/rest/api/latest", "KEY/kit"
            ),
            (
                "{ credentials: t, forge: bitbucket-server }", "ssh://git@bb.example:7999/~ann/kit.git",
                .bitbucketServer, "https://bb.example/rest/api/latest", "~ann/kit"
            ),
            (
                "{ credentials: t, forge: gitea, api: https://x.example/git/api/v1/, project: a/b }",
                "/srv/git/kit.git", .gitea, "https://x.example/git/api/v1", "a/b"
            ),
        ] as [(String, String, StatusForge, String, String)])
    func testThatWhatIsNotWrittenFollowsFromTheRepository(
        _ status: String, _ repository: String, _ forge: StatusForge, _ api: String, _ project: String
    ) throws {
        let reading = read(status, repository: repository)
        #expect(reading.diagnostics.isEmpty, "\(reading.diagnostics)")
        let bot = try #require(reading.value)
        expectNoDifference(bot.status, StatusTarget(forge: forge, credentials: "t", api: api, project: project))
        #expect(bot.destinations.map(\.name) == [api])
        // The text with every default reads back to the same settings.
        let again = BotFileReader.read(yaml: ResolvedYAML.print(bot), file: "bots/kit.yml", name: bot.name)
        expectNoDifference(again.value, bot)
    }

    @Test(
        .proves(
            .intake,
            "`status:` in the bot file: forge, interface and repository follow from `repository`, never from an event"),
        arguments: [
            Marked(
                "repository: https://github.com/acme/kit.git\nstatus: §{ forge: github }\n",
                "needs the name of a secret"),
            Marked(
                "repository: https://github.com/acme/kit.git\nstatus: { credentials: §a b }\n",
                "is the name of a secret"),
            Marked(
                "repository: https://github.com/acme/kit.git\nstatus: { credentials: t, §token: x }\n",
                "`status` has no key `token`"),
            Marked(
                "repository: https://g.example/acme/kit.git\nstatus:\n  forge: §gogs\n  credentials: t\n",
                "Gogs has no interface for commit statuses"),
            Marked(
                "repository: https://g.example/acme/kit.git\nstatus: §{ credentials: t }\n",
                "does not say which forge it is"),
            Marked(
                "repository: https://g.example/acme/kit.git\nstatus: { credentials: t, forge: §gitee }\n",
                "did you mean `gitea`?"),
            Marked("repository: /srv/kit.git\nstatus: §{ credentials: t, forge: gitea }\n", "names no host"),
            Marked(
                "repository: /srv/kit.git\nstatus: §{ credentials: t, forge: gitea, api: https://g.example/api/v1 }\n",
                "write `project: owner/name`"),
            Marked(
                "repository: https://g.example/acme/kit.git\nstatus: { credentials: t, forge: gitea, api: §\"http://g.example\" }\n",
                "http:// shows the token"),
            Marked(
                "repository: https://g.example/acme/kit.git\nstatus: { credentials: t, forge: gitea, api: §\"https://u:p@g.example\" }\n",
                "has a password in it"),
            Marked(
                "repository: https://g.example/acme/kit.git\nstatus: { credentials: t, forge: gitea, api: §\"https://g.example/?a=b\" }\n",
                "without `?`"),
            Marked(
                "repository: https://g.example/acme/kit.git\nstatus: { credentials: t, forge: gitea, project: §a/../b }\n",
                "is not a repository's name"),
            Marked(
                "repository: https://g.example/deep/acme/kit.git\nstatus: §{ credentials: t, forge: gitea }\n",
                "is not a repository's name"),
        ])
    func testThatWhatIsWrongIsSaidWithItsPlace(_ marked: Marked) {
        let reading = BotFileReader.read(yaml: marked.text, file: "bots/kit.yml", name: Name(nearest: "kit"))
        marked.expectFirst(of: reading.diagnostics)
        #expect(reading.value?.status == nil)
    }

    @Test func testThatCommentsAreAskedForWhereTheyAreMade() throws {
        let asked = read("{ credentials: t, comments: true }", repository: "https://github.com/acme/kit.git")
        #expect(asked.value?.status?.hasComments == true)
        #expect(asked.value?.destinations.map(\.kind) == [.status, .comment])
        let refused = read("{ credentials: t, comments: true }", repository: "https://bitbucket.org/acme/kit.git")
        #expect(refused.value == nil)
        expectContains("\(refused.diagnostics)", "comments are not made at bitbucket")
    }

    @Test func testThatHTTPNeedsInsecure() {
        let reading = read(
            "{ credentials: t, forge: gitea }", repository: "http://127.0.0.1:3000/acme/kit.git", insecure: true)
        #expect(reading.value?.status?.api == "http://127.0.0.1:3000/api/v1")
    }
}
