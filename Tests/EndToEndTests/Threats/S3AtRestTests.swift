import Basics
import JobProtocol
import TestSupport
import Testing

/// Row S3: a copy of the state directory contains none of the secrets, which are beside it or in systemd.
@Suite(.threat("S3"), .sandbox, .program("curl"), .program("ssh-keygen")) struct S3AtRestTests {
    private static let bot = """
        secrets: [{ name: office-token, branches: [main] }]
        triggers:
          - { name: release, branches: [main], publish: { version: { file: VERSION } } }

        """
    private static let files = [
        ".martlet.yml": """
        configurations:
          debug:
            test: none
            steps:
              - { name: use, step: building, run: "test -n \\"$MARTLET_SECRET_OFFICE_TOKEN\\"", secrets: [office-token] }
        analyze: []
        archive: { include: [VERSION] }

        """,
        "VERSION": "1.0.0\n",
    ]
    private static let secrets = [
        "office-token": "canary-of-the-office-71c2", "kit-webhook": "canary-of-the-hook-9d04",
    ]

    private func withSigner(_ body: (Daemon, _ key: String) async throws -> Void) async throws {
        try await withDaemon(bot: Self.bot, settings: "signing: signing-key\n", isStarted: false) { daemon in
            let key = daemon.directory.path("etc/secrets/signing-key")
            _ = try await runExpectingSuccess([
                "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "releases", "-f", key,
            ])
            for (name, value) in Self.secrets { try daemon.directory.write("etc/secrets/" + name, value, mode: 0o600) }
            _ = try await daemon.work.commit(files: Self.files, message: "Begin")
            try await body(daemon, key)
        }
    }

    @Test(
        .proves(
            .jobs,
            "A copy of the state directory holds no secret, token or key: secrets are files beside it, and of tokens the database has digests (S3)"
        ))
    func testThatWhoStealsTheStateReadsNoSecret() async throws {
        try await withSigner { daemon, key in
            // given: all of them are used, and a user gets a token
            try await daemon.start()
            let printed = try await daemon.output("token", "create", "canary", "--role", "admin")
            let token = try #require(printed.split { $0.isWhitespace }.map(String.init).max { $0.count < $1.count })
            #expect(try await daemon.get("/api/v1/tokens", headers: ["Authorization: Bearer \(token)"]).status == 200)
            try await daemon.work.push(to: daemon.remote)
            expectContains(try await daemon.completion(of: 1), #""result":"succeeded""#)
            expectContains(try await daemon.get("/files/kit/1.0.0/SHA256SUMS.sig").body, "BEGIN SSH SIGNATURE")

            // when: including data that the database has not yet copied into its file; the daemon works and removes files meanwhile
            let stolen = daemon.directory.path("stolen")
            let copied = try await run(["env", "LC_ALL=C", "cp", "-a", daemon.state, stolen])
            let failures = copied.stderr.split(separator: "\n").filter { !$0.hasSuffix(": No such file or directory") }
            #expect(failures.isEmpty)

            // then
            let lines = try daemon.directory.text("etc/secrets/signing-key").split(separator: "\n").dropFirst()
                .dropLast()
            let canaries = Array(Self.secrets.values) + [token] + lines.map(String.init)
            #expect(canaries.count >= 7)
            var looked = 0
            try Directory(opening: stolen).walk(".", limit: 100_000) { path, status in
                guard status.kind == .file else { return }
                let name = String(decoding: path, as: UTF8.self)
                let bytes = try #require(SmallFile.read(stolen + "/" + name, limit: 64 << 20), "\(name)")
                for canary in canaries {
                    #expect(!bytes.contains(canary), "\(name): \(canary)")
                }
                looked += 1
            }
            #expect(looked > 20, "the state was looked through")
        }
    }

    /// The service continues for bots that do not need the key. What should be signed is refused, with the remedy.
    @Test(
        .proves(
            .jobs,
            "Where another thing lies in place of the signing key, nothing is published, and the trigger says how to make one"
        ))
    func testThatNothingIsPublishedWithAnotherThingInPlaceOfTheKey() async throws {
        try await withSigner { daemon, _ in
            // given
            try daemon.directory.write("etc/secrets/signing-key", "no key\n", mode: 0o600)
            try await daemon.start()
            // when
            try await daemon.work.push(to: daemon.remote)
            // then
            expectContains(try await daemon.completion(of: 1), #""result":"trigger-error""#)
            let triggers = try await daemon.get("/api/v1/bots/kit/integrations/1/triggers").body
            expectContains(triggers, "it is not a private key of OpenSSH; make one with")
            #expect(try await daemon.get("/files/kit/1.0.0/").status == 404)
        }
    }
}
