import TestSupport
import Testing

@Suite struct DoctorMailTests {
    @Test func testThatDoctorSaysThatMailsHaveNoServer() async throws {
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
}
