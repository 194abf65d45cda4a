import API
import ArgumentParser
import Encodings

/// The command `martlet token …`.
struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Makes, lists and revokes access tokens, and ends sessions of browsers.",
        subcommands: [Create.self, ListTokens.self, Revoke.self, EndSession.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create", abstract: "Makes a token and prints it, this once.")

        @OptionGroup var server: ServerOptions
        @Argument(help: "A name to know it by.") var name: String
        @Option(help: "viewer, operator or admin.", completion: .list(["viewer", "operator", "admin"]))
        var role: String
        @Option(help: "Limits the role to bots: names and patterns with commas between them, such as kit,tools-*.")
        var bots: String?

        func run() async throws {
            try await Failure.exiting {
                let list = bots.map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
                let answer = try await server.connect().post(
                    "/api/v1/tokens", API.TokenRequest(name: name, role: role, bots: list), as: API.NewToken.self)
                Output.print("\(answer.secret)\n")
            }
        }
    }

    struct ListTokens: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Lists the tokens, and the sessions of people who signed in with a browser.")

        @OptionGroup var server: ServerOptions
        @Flag(help: "Print the daemon's JSON.") var json = false

        func run() async throws {
            try await Failure.exiting {
                let connection = try server.connect()
                if json { return Output.print(try await connection.get("/api/v1/tokens")) }
                let tokens = try await connection.get("/api/v1/tokens", as: API.List<API.Token>.self).items
                Output.print(
                    server.terminal.table(
                        ["TOKEN", "ROLE", "BOTS", "CREATED", "STATE"],
                        tokens.map {
                            [
                                Cell($0.name), Cell($0.role), Cell($0.bots?.joined(separator: ", ") ?? "all"),
                                Cell($0.created.text),
                                Cell($0.revoked.map { "revoked \($0)" } ?? "", .faint),
                            ]
                        }))
                let sessions = try await connection.get("/api/v1/sessions", as: API.List<API.Session>.self).items
                if sessions.isEmpty { return }
                Output.print("\n")
                Output.print(
                    server.terminal.table(
                        ["SESSION", "PERSON", "ROLE", "CREATED", "USED", "SIGNED IN"],
                        sessions.map {
                            [
                                Cell("\($0.id)"), Cell($0.person), Cell(TokenCommand.roles(of: $0)),
                                Cell($0.created.text),
                                Cell("\($0.used)"),
                                Cell($0.token.map { "by token \($0)" } ?? "by \($0.provider ?? "")", .faint),
                            ]
                        }))
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke", abstract: "Revokes a token and ends its sessions, at once.")

        @OptionGroup var server: ServerOptions
        @Argument(help: "The token's name.") var name: String

        func run() async throws {
            try await Failure.exiting {
                try await server.connect().delete("/api/v1/tokens/\(PercentEncoding.encode(name))")
                Output.print("\(name) is revoked\n")
            }
        }
    }
}

extension TokenCommand {
    struct EndSession: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "end-session", abstract: "Ends a session of a browser, at once.")

        @OptionGroup var server: ServerOptions
        @Argument(help: "The session's number; `martlet token list` has it.") var number: Int64

        func run() async throws {
            try await Failure.exiting {
                try await server.connect().delete("/api/v1/sessions/\(number)")
                Output.print("session \(number) has ended\n")
            }
        }
    }
}

extension TokenCommand {
    /// Returns the roles of a session in words, such as `viewer; operator on kit, tools-*`.
    fileprivate static func roles(of session: API.Session) -> String {
        let limited = session.limited.map { "\($0.role) on \($0.bots.joined(separator: ", "))" }
        let all = [session.role].compactMap(\.self) + limited
        return all.isEmpty ? "no role" : all.joined(separator: "; ")
    }
}
