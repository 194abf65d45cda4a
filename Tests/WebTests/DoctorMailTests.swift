import Basics
import TestSupport
import Testing

@Suite struct DoctorMailTests {
    @Test(.proves(.notices, "`martlet doctor` says that notices would be mailed and no server is named"))
    func testThatDoctorSaysThatMailsHaveNoServer() async throws {
        try await withTemporaryDirectory { directory in
            // given
            try directory.write(
                "bots/kit.yml", "repository: /srv/kit.git\nnotify:\n  - { name: team, mail: team@acme.example }\n")
            func doctor(_ more: String) async throws -> String {
                let settings = try directory.write("martlet.yml", "isolation: none\n\(more)\n")
                return try await run(
                    [try TestTools.builtProduct("martlet"), "doctor", "--settings", settings],
                    environment: ["PATH": "/usr/bin:/bin", "HOME": directory.path]
                ).stdout
            }
            // when, then
            expectContains(
                try await doctor(""), "!!  mail  kit would mail its notices, and the settings have no `mail`")
            expectContains(
                try await doctor("mail: { server: smtps://mail.acme.example, from: ci@acme.example }"),
                "ok  mail  smtps://mail.acme.example\n")
        }
    }

    @Test(
        .proves(.intake, "`martlet doctor` says which settings a proxy in front needs, for example for large webhooks"))
    func testThatDoctorSaysWhatAProxyHasToBeTold() async throws {
        try await withTemporaryDirectory { directory in
            func doctor(_ more: String) async throws -> String {
                let settings = try directory.write("martlet.yml", "isolation: none\n\(more)\n")
                return try await run(
                    [try TestTools.builtProduct("martlet"), "doctor", "--settings", settings],
                    environment: ["PATH": "/usr/bin:/bin", "HOME": directory.path]
                ).stdout
            }
            expectContains(
                try await doctor("url: https://ci.acme.example"),
                "--  proxy  https://ci.acme.example needs a proxy in front, which has to pass bodies of 26 MiB")
            for known in ["", "url: http://ci.acme.example", "url: https://ci.acme.example\nproxies: 127.0.0.1"] {
                #expect(!(try await doctor(known)).contains("proxy"), "\(known)")
            }
        }
    }

    @Test(.proves(.notices, "`martlet doctor` says which secrets are named and not stored"))
    func testThatDoctorSaysWhichSecretsAreMissing() async throws {
        try await withTemporaryDirectory { directory in
            // given
            try directory.write(
                "bots/kit.yml",
                """
                repository: https://git.example/kit.git
                webhook: { secret: hook }
                status: { forge: gitea, credentials: there, project: acme/kit }
                notify:
                  - { name: chat, webhook: "https://chat.example/hook", secret: chat }

                """)
            try directory.directory().makeDirectories("secrets", mode: 0o700)
            try directory.write("secrets/there", "a token", mode: 0o600)
            let settings = try directory.write(
                "martlet.yml", "isolation: none\nstate: \(directory.path("state"))\nsigning: release-key\n")

            // when
            let said = try await run(
                [try TestTools.builtProduct("martlet"), "doctor", "--settings", settings],
                environment: ["PATH": "/usr/bin:/bin", "HOME": directory.path]
            ).stdout

            // then
            for (secret, user) in [
                ("release-key", "`signing` of the settings"), ("hook", "the bot kit"), ("chat", "the bot kit"),
            ] {
                expectContains(
                    said,
                    "  secret  \(secret) is missing, which \(user) needs; store it with `martlet secret set \(secret)`")
            }
            #expect(!said.contains("there is missing"))
            expectContains(said, "--  state  ")
        }
    }
}
