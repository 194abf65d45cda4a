import Basics
import Foundation
import Releases
import Storage
import TestSupport
import Testing

/// Another team than the publishing one. It has `martlet`, and its own configuration directory.
struct FetchingTeam: Sendable {
    let web: WebFixture
    let sample: SampleContent
    let record: IntegrationRecord
    let key: SigningKey
    var home: String { web.directory.path("home") }
    var known: String { home + "/martlet/known_signers" }
    /// The line of the team's key files for the service.
    var line: String { AllowedSigners.Signer(principal: "ci", key: key.publicKey).line + "\n" }

    func martlet(_ arguments: [String], url: String? = nil) async throws -> ProgramResult {
        var environment = ["XDG_CONFIG_HOME": home, "PATH": "/usr/bin:/bin"]
        environment["MARTLET_URL"] = url ?? web.socket
        return try await run(
            [try TestTools.builtProduct("martlet")] + arguments, in: web.directory.path, environment: environment)
    }

    func key(_ name: String) async throws -> SigningKey { try await Self.key(web.directory, name) }

    static func key(_ directory: TemporaryDirectory, _ name: String) async throws -> SigningKey {
        try await runExpectingSuccess(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", directory.path(name)])
        return try SigningKey(openSSH: directory.text(name))
    }

    func announce(_ keys: [SigningKey]) throws {
        let signers = AllowedSigners(keys.map { .init(principal: "https://ci.acme.example", key: $0.publicKey) })
        try web.directory.write("state/files/ALLOWED_SIGNERS", signers.text)
    }

    /// Returns the files that commands left.
    func left() throws -> [String] {
        try web.directory.directory().entries().map(\.name).filter { $0.hasPrefix(".martlet-") }
    }
}

/// Runs a test with a service with one version, 1.4.2, and the announced key that signed it.
func withFetchingTeam(_ body: @Sendable (FetchingTeam) async throws -> Void) async throws {
    try await withWeb { web in
        let sample = SampleContent(web: web)
        try await sample.fill()
        let record = try #require(try await web.store.latestIntegration(of: SampleContent.kit))
        let team = FetchingTeam(
            web: web, sample: sample, record: record, key: try await FetchingTeam.key(web.directory, "key"))
        try await sample.publish("1.4.2", by: record, signedBy: team.key)
        try team.announce([team.key])
        try await body(team)
    }
}
