import API
import Encodings
import Foundation
import Model

/// The names that a shell offers for an argument. The daemon is asked for them, briefly. Without an answer no name is offered, and nothing is
/// printed.
enum Completions {
    /// The time for all answers. A person who presses the tabulator waits no longer.
    private static let limit = Duration.milliseconds(700)
    /// The most names that are offered.
    private static let maximum = 200

    /// Returns the bots' names.
    /// - Parameters:
    ///   - words: The words of the command line.
    ///   - prefix: The beginning of the word, up to the cursor.
    @Sendable static func bots(_ words: [String], _ index: Int, _ prefix: String) async -> [String] {
        guard let connection = connection(words),
            let list = try? await connection.get("/api/v1/bots", as: API.BotList.self)
        else { return [] }
        return offered(list.items.lazy.map(\.name), prefix)
    }

    /// Returns the bots' names, or behind `kit#` the bot's latest integrations.
    @Sendable static func integrations(_ words: [String], _ index: Int, _ prefix: String) async -> [String] {
        guard let mark = prefix.firstIndex(of: "#") else { return await bots(words, index, prefix) }
        guard let bot = Name(prefix[..<mark]), let connection = connection(words),
            let list = try? await connection.get(
                "/api/v1/bots/\(bot)/integrations?limit=50", as: API.List<API.Integration>.self)
        else { return [] }
        return offered(list.items.lazy.filter { $0.number > 0 && $0.bot == bot.description }.map(\.id), prefix)
    }

    /// Returns the products' names.
    @Sendable static func products(_ words: [String], _ index: Int, _ prefix: String) async -> [String] {
        guard let connection = connection(words),
            let list = try? await connection.get("/api/v1/products", as: API.List<API.Product>.self)
        else { return [] }
        return offered(list.items.lazy.map(\.product), prefix)
    }

    /// Returns the names that begin with the prefix. A name that is none could contain what a shell or a terminal obeys.
    private static func offered(_ names: some Sequence<String>, _ prefix: String) -> [String] {
        Array(
            names.lazy.filter { $0.hasPrefix(prefix) && (Name($0) != nil || IntegrationID($0) != nil) }.prefix(maximum))
    }

    /// Connects as the command would: to `--server` among the words, to `MARTLET_URL`, or to the usual socket.
    private static func connection(_ words: [String]) -> Connection? {
        var options = ServerOptions()
        options.server = value(of: "--server", in: words)
        options.token = value(of: "--token", in: words)
        var connection = try? options.configured(ProcessInfo.processInfo.environment)
        connection?.deadline = .now + limit
        return connection
    }

    private static func value(of option: String, in words: [String]) -> String? {
        if let joined = words.first(where: { $0.hasPrefix(option + "=") }) {
            return String(joined.dropFirst(option.count + 1))
        }
        guard let place = words.firstIndex(of: option), place + 1 < words.count else { return nil }
        return words[place + 1]
    }
}
