import Integrations
import Model
import Storage
import Testing

@testable import Web

extension WebFixture {
    /// Makes a token whose role is limited to bots, and returns it.
    func token(_ role: Role, on bots: String...) async throws -> BearerToken {
        let token = BearerToken.random()
        let name = "limited-\(role.rawValue)-\(token.hash.prefix(8))"
        let scope = try #require(BotScope(bots))
        try await store.createToken(name: name, role: role, bots: scope, hash: token.hash, at: Self.now)
        return token
    }

    /// Sends a request with a token.
    func send(_ method: String = "GET", _ target: String, with token: BearerToken, json: String? = nil) async throws
        -> RawAnswer
    {
        let type = json == nil ? [] : [("Content-Type", "application/json")]
        return try await send(
            method, target, headers: [("Authorization", "Bearer \(token.secret)")] + type,
            body: Array((json ?? "").utf8))
    }
}

/// A store with two bots: `kit` of `SampleContent`, and one that belongs to another team, with an integration, a version and messages.
struct TwoTeams: Sendable {
    static let other = Name(nearest: "hidden-bot")

    let web: WebFixture

    func fill() async throws {
        let sample = SampleContent(web: web)
        try await sample.fill()
        let store = web.store
        let target = StatusTarget(
            forge: .gitea, credentials: "hidden-bot-status", api: "https://hidden-bot.example",
            project: "acme/hidden-bot")
        try await store.register(
            [
                BotSpecification(name: SampleContent.kit, repository: SampleContent.repository),
                BotSpecification(
                    name: Self.other, repository: "https://git.example/acme/hidden-bot.git", status: target),
            ], at: WebFixture.now)
        let record = try await store.queue(
            NewIntegration(
                bot: Self.other, ref: RefName(branch: "main"), commit: SampleContent.commits[0], cause: .push),
            at: WebFixture.now)
        try await sample.publish("1.0.0", by: record, product: Self.other)
        _ = try await web.operations.control.pause(bot: Self.other, reason: "hidden-bot moves", by: "eve")
    }
}
