import API
import ArgumentParser
import Encodings
import Foundation
import Settings

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
        @Option(help: "viewer, operator or admin.") var role: String

        func run() async throws {
            try await Failure.exiting {
                let answer = try await server.connect().post(
                    "/api/v1/tokens", API.TokenRequest(name: name, role: role), as: API.NewToken.self)
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
                    Output.table(
                        tokens.map { [$0.name, $0.role, $0.created.text, $0.revoked.map { "revoked \($0)" } ?? ""] }))
                let sessions = try await connection.get("/api/v1/sessions", as: API.List<API.Session>.self).items
                if sessions.isEmpty { return }
                Output.print("\nSessions:\n")
                Output.print(
                    Output.table(
                        sessions.map {
                            [
                                "\($0.id)", $0.person, $0.role ?? "no role", $0.created.text, "used \($0.used)",
                                $0.token.map { "by token \($0)" } ?? "by \($0.provider ?? "")",
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

/// The command `martlet secret set NAME`.
struct SecretCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "secret", abstract: "Stores secrets for bots and triggers.", subcommands: [SetSecret.self])

    struct SetSecret: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Reads a secret from standard input and stores it in the settings' directory.",
            discussion:
                "It is written where the settings file says (`secrets:`), so run it as the service's user or root.")

        @OptionGroup var location: SettingsLocation
        @Argument(help: "The secret's name.") var name: String

        func run() async throws {
            try await Failure.exiting {
                let (settings, file) = try location.find()
                guard let directory = settings.secrets else {
                    throw Failure(
                        .configuration, "the settings name no directory of secrets; add `secrets: secrets` to them")
                }
                // Done as root, before any file of the service is opened. New files then belong to the service's user.
                try location.makeSecretsDirectory(directory, settings)
                try ServiceIdentity.assumeIfThere(settings, file: file)
                let input = FileHandle.standardInput.readData(ofLength: SecretStore.maximumSize + 1)
                guard let value = String(data: input, encoding: .utf8) else {
                    throw Failure(.no, "the secret must be text in UTF-8")
                }
                do {
                    try SecretStore(directory: directory, credentialsDirectory: nil).set(name, value)
                } catch {
                    throw Failure(.cannotCreate, "\(error)")
                }
                Output.print("the secret \(name) is stored in \(directory)\n")
            }
        }
    }
}
