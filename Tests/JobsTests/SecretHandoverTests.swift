import Basics
import BotSupport
import Execution
import Glibc
import JobProtocol
import Logging
import Storage
import TestSupport
import Testing

@testable import Jobs

/// Secrets of jobs on nodes, and the token with which a node fetches them.
@Suite struct SecretHandoverTests {
    private struct Fixture {
        let handover: SecretHandover
        let attempt: AttemptDirectory
        let token = SecretToken(url: "http://127.0.0.1:8080", token: "abcdefghijklmnopqrstuvwxyz")
        let log: RecordingLogger

        func redeem(_ use: String = "first-use", _ token: String? = nil) async throws -> [String: String] {
            try await handover.redeem(token: token ?? self.token.token, use: use, from: "10.0.0.7")
        }

        func expectRefusal(_ words: String, _ use: String) async {
            do {
                _ = try await redeem(use)
                Issue.record("the secrets were given, although \(words)")
            } catch {
                guard case SecretHandover.Refusal.refused(let reason) = error else {
                    Issue.record("\(error)")
                    return
                }
                #expect(reason.contains(words), "\(reason)")
            }
        }
    }

    private func with(isBegun: Bool = true, _ body: (Fixture) async throws -> Void) async throws {
        try await withTemporaryDirectory { temporary in
            let log = RecordingLogger()
            let fixture = Fixture(
                handover: SecretHandover(clock: .system, logger: log.logger),
                attempt: AttemptDirectory(path: temporary.path("attempt")), log: log)
            try fixture.attempt.make()
            if isBegun { #expect(try fixture.attempt.claim()) }
            fixture.handover.open(fixture.attempt, digest: fixture.token.digest) { ["KEY": "s3cret-value"] }
            try await body(fixture)
        }
    }

    @Test(
        .proves(
            .jobs,
            "A node fetches its job's secrets with a one-time token; a second use is refused, and told on the attempt and in the log"
        ))
    func testS9ThatATokenWorksOnceAndASecondUseIsRefusedAndTold() async throws {
        try await with { fixture in
            // given
            #expect(try await fixture.redeem() == ["KEY": "s3cret-value"])
            // when
            await fixture.expectRefusal("used before, from 10.0.0.7", "second-use")
            // then
            let told = try #require(fixture.attempt.refusedUse())
            #expect(told.contains("10.0.0.7") && told.contains("change the secrets"))
            #expect(fixture.log.lines.contains { $0.level == .warning && $0.message.contains("refused") })
            #expect(fixture.log.lines.contains { $0.level == .notice && $0.metadata["secrets"] == "KEY" })
            #expect(!fixture.log.lines.contains { $0.description.contains("s3cret") })
        }
    }

    @Test func testThatTheSameProcessMayAskAgainUntilItsJobStarts() async throws {
        try await with { fixture in
            // given
            for _ in 0..<2 {
                let values = try await fixture.redeem()
                #expect(values == ["KEY": "s3cret-value"])
            }
            #expect(fixture.attempt.refusedUse() == nil)
            // when
            close(open(fixture.attempt.paths.status, O_CREAT | O_WRONLY, 0o600))
            // then
            await fixture.expectRefusal("used before", "first-use")
        }
    }

    @Test(arguments: ["loss", "cancel", "finished"])
    func testS9ThatAnAttemptThatIsOverGetsNoSecrets(_ end: String) async throws {
        try await with { fixture in
            // given
            if end == "finished" {
                let isEnded = try fixture.attempt.finishUnstarted(.canceled, reason: "superseded")
                #expect(isEnded)
            } else {
                close(open("\(fixture.attempt.path)/\(end)", O_CREAT | O_WRONLY, 0o600))
            }
            // when
            await fixture.expectRefusal(["loss": "is lost", "cancel": "asked to end"][end] ?? "has ended", "use")
            // then
            #expect(fixture.attempt.refusedUse() != nil)
            #expect(access(fixture.attempt.paths.secretsUse, F_OK) != 0)
        }
    }

    @Test func testThatAnAttemptThatHasNotBegunGetsThemLater() async throws {
        try await with(isBegun: false) { fixture in
            await expectRejection(SecretHandover.Refusal.self, \.self, .unavailable) { try await fixture.redeem() }
            let isBegun = try fixture.attempt.claim()
            let values = try await fixture.redeem()
            #expect(isBegun && values.count == 1)
        }
    }

    @Test
    func testS9ThatAnUnknownTokenAndOneOfAClosedAttemptGetNothing() async throws {
        try await with { fixture in
            await expectRejection(SecretHandover.Refusal.self, \.self, .unknown) {
                try await fixture.redeem("use", "another-token-of-26-letters")
            }
            fixture.handover.close(fixture.attempt)
            await expectRejection(SecretHandover.Refusal.self, \.self, .unknown) { try await fixture.redeem() }
        }
    }

    @Test(
        .proves(
            .badInput, "Secrets never go unencrypted to another machine: `url` is https, or the machine's own loopback")
    )
    func testThatOnlyLoopbackIsAskedUnencrypted() {
        for url in ["http://127.0.0.1:8080", "http://127.9.9.9", "http://[::1]:80/ci", "HTTP://localhost:1"] {
            #expect(SecretHandover.isLoopback(url), "\(url)")
        }
        for url in [
            "", "http://10.0.0.1", "http://127.0.0.1.example:80", "http://127.0.0.1@evil.example", "http://127.1",
            "http://localhost.example", "ftp://127.0.0.1",
        ] { #expect(!SecretHandover.isLoopback(url), "\(url)") }
        #expect(SecretToken(url: "https://ci.example/x", token: "x").isEncrypted)
    }

    @Test(
        .proves(
            .jobs, "A node trusts the certificates of the settings for the secrets' address: they come with the token"))
    func testThatTheTokenBringsTheCertificatesToTrust() async throws {
        try await with { fixture in
            // given a store of certificates as large as Mozilla's
            let store = String(repeating: "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n", count: 4000)
            var token = fixture.token
            token.certificates = store
            // when
            try fixture.attempt.record(token)
            // then
            #expect(try fixture.attempt.takeToken()?.certificates == store)
        }
    }

    @Test func testThatTheTokensFileIsPrivateAndReadOnce() async throws {
        try await with { fixture in
            // given
            try fixture.attempt.record(fixture.token)
            let mode = try Directory(opening: fixture.attempt.path).status("token.json")?.mode
            #expect(mode.map { $0 & 0o777 } == 0o600)
            // when
            let taken = try fixture.attempt.takeToken()
            // then
            #expect(taken == fixture.token)
            #expect(try fixture.attempt.takeToken() == nil)
        }
    }
}
