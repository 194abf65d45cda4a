import API
import ArgumentParser
import Encodings
import Foundation

/// The command `martlet log BOT#N`.
struct Log: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "log", abstract: "Prints a configuration's log.")

    @OptionGroup var server: ServerOptions
    @Argument(help: "Such as kit#41, or kit for the latest of a branch or tag.") var integration: IntegrationArgument
    @Option(help: "Which configuration; the first when left out.") var configuration: String?
    @Option(help: "Which attempt; the last when left out.") var attempt: Int?
    @Flag(help: "Go on printing until the integration is completed.") var follow = false

    func run() async throws {
        try await Failure.exiting {
            let connection = try server.connect()
            let answer = try await connection.get(integration.path, as: API.IntegrationDetail.self)
            // A log belongs to one integration, even if a newer one appears meanwhile.
            let root = "/api/v1/bots/\(answer.bot)/integrations/\(answer.number)"
            guard let name = configuration ?? answer.configurations.first?.name else {
                throw Failure(
                    .notFound, "\(answer.id) has run no configuration\(answer.reason.map { ": \($0)" } ?? "")")
            }
            let path = "\(root)/log/\(PercentEncoding.encode(name))"
            if follow { return try await follow(path, of: name, root, connection) }
            // It also belongs to one attempt, even if another one begins meanwhile.
            var wanted = attempt
            if wanted == nil { wanted = try await latest(of: name, answer, root, connection) }
            try await print(path, wanted, connection)
        }
    }

    /// The number of bytes in one request.
    private static let chunk: Int64 = 1 << 20

    /// Returns the newest attempt at a configuration, or at a trigger, whose name may have the prefix that URLs use.
    /// - Returns: `nil` if there is none.
    private func latest(
        of name: String, _ answer: API.IntegrationDetail, _ root: String, _ connection: Connection
    ) async throws -> Int? {
        if let configuration = answer.configurations.first(where: { $0.name == name }) { return configuration.attempt }
        let triggers = try await connection.get("\(root)/triggers", as: API.List<API.TriggerRun>.self).items
        return triggers.filter { [$0.name, "_trigger-\($0.name)"].contains(name) }.map(\.attempt).max()
    }

    /// Prints a log.
    /// - Parameter attempt: `nil` if none is known: the daemon's answer then states the reason.
    private func print(_ path: String, _ attempt: Int?, _ connection: Connection) async throws {
        let place = path + (attempt.map { "?attempt=\($0)" } ?? "")
        var terminal = TerminalBytes()
        var offset: Int64 = 0
        while let bytes = try await connection.range(place, from: offset, to: offset + Self.chunk - 1), !bytes.isEmpty {
            Output.print(terminal.take(bytes))
            offset += Int64(bytes.count)
        }
        Output.print(terminal.end())
    }

    /// Prints every attempt, from the first existing one on, until the integration is completed.
    private func follow(_ path: String, of name: String, _ root: String, _ connection: Connection) async throws {
        var shown = 0
        while true {
            let answer = try await Patience.bearing { try await connection.get(root, as: API.IntegrationDetail.self) }
            let newest = try await Patience.bearing { try await latest(of: name, answer, root, connection) }
            let wanted = attempt ?? newest
            if let wanted, wanted > shown, try await followAttempt(path, wanted, connection) {
                shown = wanted
                if attempt != nil { return }
                continue
            }
            if answer.state == "completed" {
                // The daemon's answer states why there is no log.
                if shown == 0 { try await print(path, wanted, connection) }
                return
            }
            try await Task.sleep(for: Patience.pause)
        }
    }

    /// Prints an attempt's log until it ends.
    /// - Returns: False if there is no log yet.
    private func followAttempt(_ path: String, _ attempt: Int, _ connection: Connection) async throws -> Bool {
        var terminal = TerminalBytes()
        var offset: Int64 = 0
        while true {
            let place = "\(path)/events?attempt=\(attempt)&from=\(offset)"
            guard let body = try await Patience.bearing({ try await connection.stream(place) }) else { return false }
            var events = ServerSentEvents()
            do {
                for try await bytes in body {
                    for event in try events.take(bytes) {
                        if event.name == "end" {
                            Output.print(terminal.end())
                            return true
                        }
                        guard event.name == "log" else { continue }
                        let piece = try JSONDecoder().decode(API.LogPiece.self, from: Data(event.data.utf8))
                        Output.print(terminal.take(piece.bytes))
                        offset = piece.offset + piece.size
                    }
                }
            } catch let failure as Failure {
                throw failure
            } catch is DecodingError {
                throw Failure(.software, "the daemon's events cannot be read; are tool and daemon of one version?")
            } catch {
                // The connection broke.
            }
            // The daemon is restarting, or has restarted: the rest is requested again.
            try await Task.sleep(for: Patience.pause)
        }
    }
}

extension API.LogPiece {
    /// The bytes of the piece.
    fileprivate var bytes: [UInt8] {
        text.map { Array($0.utf8) } ?? base64.flatMap { Data(base64Encoded: $0) }.map { Array($0) } ?? []
    }
}
