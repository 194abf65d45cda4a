import Archives
import BotSupport
import Foundation
import Model
import Settings
import Storage
import TestSupport
import Testing
import Transfer

@testable import Integrations

/// Bot files that notify `ann` by mail and `chat` by a webhook.
enum NotifyingBot {
    static let server = "smtps://mail.acme.example"
    static let hook = "https://chat.acme.example/hook?key=path-secret"
    static let key = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    static let mail = """
        notify:
          - { name: team, mail: "Ann <ann@acme.example>" }

        """
    static let webhook = """
        notify:
          - { name: chat, webhook: "\(hook)", secret: chat }

        """

    /// Returns a plan with a mail server that requires a password.
    static func plan(_ file: String, settings: MailSettings? = nil, transport: (any Transport)? = nil) throws -> BotPlan
    {
        var plan = BotPlan(file: file)
        plan.mail =
            try settings
            ?? MailSettings(
                server: server, from: try #require(MailAddress("Martlet <ci@acme.example>")), credentials: "mail")
        plan.mailTransport = transport
        return plan
    }

    /// Runs a test with a started bot with its secrets and both receivers. The test need not read the requests.
    static func with(_ file: String, _ body: (Bot) async throws -> Void) async throws {
        try await withBot(try plan(file), isStarted: false) { bot in
            try bot.secrets.set("mail", "ci:mail-password")
            try bot.secrets.set("chat", key)
            bot.transport.answer(.mail, server, with: TransferResponse(status: 250, body: Array("OK id=1".utf8)))
            bot.transport.answer(.post, hook, with: TransferResponse(status: 204))
            try await bot.start()
            try await body(bot)
            // Waiting messages may be retried until then.
            if bot.isRunning { try await bot.idle() }
            try await bot.stop()
            _ = bot.transport.takeRequests()
        }
    }
}

extension Bot {
    /// Pushes a commit, and waits until it is integrated.
    @discardableResult
    func integrated(_ commit: Commit = .succeeding) async throws -> Integrated {
        let id = try await push(commit)
        try await announce()
        return try await completion(of: try await integration(of: id, on: RefName(branch: "main")).id)
    }

    /// Advances the time until a message satisfies the condition.
    func message(
        _ what: String, _ condition: @escaping @Sendable (OutboxMessage) -> Bool
    ) async throws -> OutboxMessage {
        var found: OutboxMessage?
        _ = try await until(what, limit: Bot.waitLimit) {
            found = try await store.outbox().items.first(where: condition)
            if found != nil { return true }
            time.advance(by: .seconds(400))
            timer.advance(by: .seconds(400))
            return false
        }
        return try #require(found)
    }
}

extension FakeTransport.Request {
    var text: String { String(decoding: body, as: UTF8.self) }

    /// Returns a header of a mail.
    func header(_ name: String) -> String? {
        text.components(separatedBy: "\r\n").first { $0.hasPrefix("\(name): ") }.map {
            String($0.dropFirst(name.count + 2))
        }
    }
}
