import API
import ArgumentParser
import Encodings
import Foundation

/// The command `martlet log BOT#N`.
struct Log: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "log", abstract: "Prints a configuration's log.")

    @OptionGroup var server: ServerOptions
    @Argument(help: "Such as kit#41, or kit for the latest of a branch or tag.") var integration: IntegrationArgument
    @Option(help: "Which configuration; that of a log page's address, or else the first, when left out.")
    var configuration: String?
    @Option(help: "Which attempt; the last when left out.") var attempt: Int?
    @Flag(help: "Go on printing until the integration is completed.") var follow = false
    @Flag(help: "The logs of all configurations and triggers that failed.") var failed = false

    func validate() throws {
        guard !failed || configuration == nil && attempt == nil && !follow else {
            throw ValidationError("--failed selects the logs; leave --configuration, --attempt and --follow out")
        }
    }

    func run() async throws {
        try await Failure.exiting {
            let connection = try await server.connect(to: integration.address)
            let answer = try await connection.get(integration.path, as: API.IntegrationDetail.self)
            // A log belongs to one integration, even if a newer one appears meanwhile.
            let root = "/api/v1/bots/\(answer.bot)/integrations/\(answer.number)"
            if failed { return try await printFailed(answer, root, connection) }
            let named = configuration ?? integration.address?.configuration
            guard let name = named ?? answer.configurations.first?.name else {
                throw Failure(
                    .notFound,
                    "\(answer.id) has no log, because no configuration ran\(answer.reason.map { ": \($0)" } ?? ""); "
                        + "`martlet show \(answer.id)` says more")
            }
            let path = "\(root)/log/\(PercentEncoding.encode(name))"
            if follow { return try await follow(path, of: name, root, connection) }
            // It also belongs to one attempt, even if another one begins meanwhile.
            var wanted = attempt
            if configuration == nil, integration.address?.configuration != nil {
                wanted = wanted ?? integration.address?.attempt
            }
            if wanted == nil { wanted = try await latest(of: name, answer, root, connection) }
            try await print(path, wanted, connection)
        }
    }

    /// Prints the logs of what failed, each below its name.
    private func printFailed(
        _ answer: API.IntegrationDetail, _ root: String, _ connection: Connection
    ) async throws {
        let configurations = answer.configurations.filter { configuration in
            configuration.verdict.map { !RunStatus.green.contains($0) } ?? false
        }.map { (log: $0.name, attempt: $0.attempt) }
        let triggers = try await connection.get("\(root)/triggers", as: API.List<API.TriggerRun>.self).items
            .filter { $0.state == "failed" }.map { (log: "_trigger-\($0.name)", attempt: $0.attempt) }
        if configurations.isEmpty, triggers.isEmpty {
            return Output.remark("martlet: nothing of \(answer.id) failed, so there is no log to print")
        }
        for (index, item) in (configurations + triggers).enumerated() {
            let title = "==> \(answer.id) \(item.log), attempt \(item.attempt) <=="
            Output.print((index == 0 ? "" : "\n") + server.terminal.paint(title, .heading) + "\n")
            do {
                try await print("\(root)/log/\(PercentEncoding.encode(item.log))", item.attempt, connection)
            } catch let failure as Failure where failure.status == .notFound {
                // What ended before its first byte has no log.
                Output.print(Output.visible(failure.description) + "\n")
            }
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
        var bytes = TerminalBytes(keepsColors: server.terminal.isColored)
        var offset: Int64 = 0
        while let piece = try await connection.range(place, from: offset, to: offset + Self.chunk - 1), !piece.isEmpty {
            Output.print(bytes.add(piece))
            offset += Int64(piece.count)
        }
        Output.print(bytes.end())
    }

    /// Prints every attempt, from the first existing one on, until the integration is completed.
    private func follow(_ path: String, of name: String, _ root: String, _ connection: Connection) async throws {
        var shown = 0
        while true {
            let answer = try await Retries.whileAway { try await connection.get(root, as: API.IntegrationDetail.self) }
            let newest = try await Retries.whileAway { try await latest(of: name, answer, root, connection) }
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
            try await Task.sleep(for: Retries.pause)
        }
    }

    /// Prints an attempt's log until it ends.
    /// - Returns: False if there is no log yet.
    private func followAttempt(_ path: String, _ attempt: Int, _ connection: Connection) async throws -> Bool {
        var bytes = TerminalBytes(keepsColors: server.terminal.isColored)
        var offset: Int64 = 0
        while true {
            let place = "\(path)/events?attempt=\(attempt)&from=\(offset)"
            guard let body = try await Retries.whileAway({ try await connection.stream(place) }) else { return false }
            var events = ServerSentEvents()
            do {
                for try await part in body {
                    for event in try events.add(part) {
                        if event.name == "end" {
                            Output.print(bytes.end())
                            return true
                        }
                        guard event.name == "log" else { continue }
                        let piece = try JSONDecoder().decode(API.LogPiece.self, from: Data(event.data.utf8))
                        Output.print(bytes.add(piece.bytes))
                        offset = piece.offset + piece.size
                    }
                }
            } catch let failure as Failure {
                throw failure
            } catch is DecodingError {
                throw Failure(
                    .software,
                    "the log cannot be followed: the events of the daemon at \(connection.place) cannot be read; use a martlet of the "
                        + "daemon's version")
            } catch {
                // The connection broke.
            }
            // The daemon is restarting, or has restarted: the rest is requested again.
            try await Task.sleep(for: Retries.pause)
        }
    }
}

extension API.LogPiece {
    /// The bytes of the piece.
    fileprivate var bytes: [UInt8] {
        text.map { Array($0.utf8) } ?? base64.flatMap { Data(base64Encoded: $0) }.map { Array($0) } ?? []
    }
}
