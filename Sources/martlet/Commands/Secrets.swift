import API
import ArgumentParser
import Foundation
import Model
import Settings
import Storage
import Web

/// The command `martlet secret …`.
struct SecretCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "secret", abstract: "Stores, lists, rotates and removes secrets for bots and triggers.",
        discussion: "It works where the settings file says (`secrets:`), so run it as the service's user or root.",
        subcommands: [SetSecret.self, ListSecrets.self, RotateSecret.self, RemoveSecret.self])

    struct SetSecret: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Reads a secret from standard input and stores it in the settings' directory.",
            discussion:
                "It is written where the settings file says (`secrets:`), so run it as the service's user or root. "
                + "A value that it replaces is not accepted any more.")

        @OptionGroup var location: SettingsLocation
        @Argument(help: "The secret's name.") var name: String

        func run() async throws {
            try await Failure.exiting {
                let (settings, store) = try SecretCommand.open(location, isMade: true)
                let value = try SecretCommand.input()
                try SecretCommand.changing { () throws(SettingsError) in try store.set(name, value) }
                Output.print("the secret \(name) is stored in \(settings.secrets ?? "")\n")
                await SecretNote.send(name, "stored", settings)
            }
        }
    }

    struct ListSecrets: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Lists the names of secrets and what uses each. It never shows a value.")

        @OptionGroup var location: SettingsLocation
        @OptionGroup var colors: ColorOptions

        func run() async throws {
            try await Failure.exiting {
                let (settings, store) = try SecretCommand.open(location)
                let known = try await KnownSecrets.read(settings, store)
                known.remark()
                guard !known.secrets.isEmpty else { return Output.print("There is no secret, and none is named.\n") }
                Output.print(
                    colors.terminal.table(
                        ["SECRET", "CHANGED", "STATE", "USED BY"],
                        known.secrets.map { secret in
                            let state =
                                secret.overlapEnds.map { "rotated; the value before is accepted until \($0.text)" }
                                ?? secret.problem ?? secret.state
                            return [
                                Cell(secret.name), Cell(secret.changed?.text ?? ""), Cell(state, .faint),
                                Cell(secret.uses.isEmpty ? "no known use" : secret.uses.joined(separator: ", ")),
                            ]
                        }))
            }
        }
    }

    struct RemoveSecret: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove", abstract: "Removes a secret that has no known use.")

        @OptionGroup var location: SettingsLocation
        @Argument(help: "The secret's name.") var name: String
        @Flag(help: "Remove it although it is used.") var force = false

        func run() async throws {
            try await Failure.exiting {
                let (settings, store) = try SecretCommand.open(location)
                if !force {
                    let known = try await KnownSecrets.read(settings, store)
                    if let uses = known.uses(of: name), !uses.isEmpty {
                        throw Failure(
                            .no,
                            "the secret \(name) was not removed, because it is used by \(uses.prefix(10).joined(separator: ", ")); "
                                + "change these first, or remove it with --force")
                    }
                    if let problem = known.unreadBots {
                        throw Failure(
                            .no,
                            "the secret \(name) was not removed, because a bot file with errors may use it (\(problem)); "
                                + "mend the file, or remove the secret with --force")
                    }
                }
                let isRemoved = try SecretCommand.changing { () throws(SettingsError) in try store.remove(name) }
                guard isRemoved else {
                    throw Failure(
                        .notFound,
                        "there is no secret \(name) in \(settings.secrets ?? ""); `martlet secret list` lists them, and a credential "
                            + "of the unit is removed there")
                }
                Output.print("the secret \(name) is removed\n")
                await SecretNote.send(name, "removed", settings)
            }
        }
    }

    struct RotateSecret: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate",
            abstract: "Reads a new value from standard input. Webhooks may use the value before for a while.",
            discussion:
                "During the overlap, change the value at the sender of the webhooks. Jobs, triggers and uploads get the new value at once. If "
                + "the value before was stolen, use --overlap 0; --end-overlap ends an overlap that runs.")

        @OptionGroup var location: SettingsLocation
        @Argument(help: "The secret's name.") var name: String
        @Option(help: "How long webhooks may use the value before: 0, or 24h, at most 30d. Default: 24h.")
        var overlap: Overlap?
        @Flag(help: "End the overlap of an earlier rotation, and change nothing else.") var endOverlap = false

        func validate() throws {
            if endOverlap, overlap != nil { throw ValidationError("--end-overlap goes without --overlap.") }
        }

        func run() async throws {
            try await Failure.exiting {
                let (settings, store) = try SecretCommand.open(location)
                let now = WallClock.system.now()
                store.removeEndedValues(at: now)
                if endOverlap { return try await end(settings, store, at: now) }
                let value = try SecretCommand.input()
                let end = try await overlap(settings, store).map { now + $0 }
                try SecretCommand.changing {
                    () throws(SettingsError) in try store.rotate(name, value, acceptingPreviousUntil: end)
                }
                let rest = end.map { "webhooks may use the value before until \($0)" } ?? "the value before has ended"
                Output.print("the secret \(name) is rotated; \(rest)\n")
                await SecretNote.send(name, "rotated", overlapEnd: end, settings)
            }
        }

        /// Returns how long the value before is accepted; `nil` for not at all. A secret that signs no webhook has no overlap.
        private func overlap(_ settings: ServiceSettings, _ store: SecretStore) async throws -> Duration? {
            if let overlap, overlap.duration == .zero { return nil }
            let known = try await KnownSecrets.read(settings, store)
            let isOfWebhook = known.secrets.contains { $0.name == name && $0.isOfWebhook }
            guard isOfWebhook || known.unreadBots != nil else {
                guard overlap == nil else {
                    throw Failure(
                        .usage,
                        "the secret \(name) was not rotated, because no webhook is known to be signed with it, so it can have no overlap; "
                            + "leave out --overlap")
                }
                return nil
            }
            return overlap?.duration ?? SecretStore.usualOverlap
        }

        private func end(_ settings: ServiceSettings, _ store: SecretStore, at now: Timestamp) async throws {
            let ran = try SecretCommand.changing {
                () throws(SettingsError) in try store.endOverlap(of: name, at: now)
            }
            guard ran else { throw Failure(.notFound, "no overlap of the secret \(name) runs") }
            Output.print("the overlap of the secret \(name) has ended\n")
            await SecretNote.send(name, "overlap-ended", settings)
        }
    }

    /// The argument of `--overlap`.
    struct Overlap: ExpressibleByArgument {
        let duration: Duration

        init?(argument: String) {
            guard let duration = argument == "0" ? .zero : DurationText.parse(argument),
                duration <= SecretStore.longestOverlap
            else { return nil }
            self.duration = duration
        }
    }

    /// Returns the settings and the store of their directory, as the service's user.
    /// - Parameter isMade: Whether a missing directory is made.
    fileprivate static func open(
        _ location: SettingsLocation, isMade: Bool = false
    ) throws -> (settings: ServiceSettings, store: SecretStore) {
        let (settings, file) = try location.find()
        guard let directory = settings.secrets else {
            throw Failure(
                .configuration,
                "the secret has no place, because the settings name no directory of secrets; add `secrets: secrets` to them"
            )
        }
        // Done as root, before any file of the service is opened. New files then belong to the service's user.
        if isMade { try location.makeSecretsDirectory(directory, settings) }
        try ServiceIdentity.assumeIfThere(settings, file: file)
        return (settings, SecretStore(directory: directory, credentialsDirectory: nil))
    }

    fileprivate static func input() throws -> String {
        let input = FileHandle.standardInput.readData(ofLength: SecretStore.maximumSize + 1)
        guard let value = String(data: input, encoding: .utf8) else {
            throw Failure(
                .no,
                "the secret cannot be stored: it is not text in UTF-8, or too long; encode it, for example with base64"
            )
        }
        return value
    }

    fileprivate static func changing<Value>(_ body: () throws(SettingsError) -> Value) throws -> Value {
        do { return try body() } catch { throw Failure(.cannotCreate, "\(error)") }
    }
}

/// The secrets and their uses: what the running service says of them, or without it, what the files say.
private struct KnownSecrets {
    var secrets: [API.Secret]
    /// Why the service could not be asked; `nil` if it answered.
    var unasked: String?
    /// The error of a bot file that could not be read; `nil` if there is none. The service knows the last valid form of each.
    var unreadBots: String?

    /// - Throws: `Failure` if the directory cannot be read.
    static func read(_ settings: ServiceSettings, _ store: SecretStore) async throws -> KnownSecrets {
        let unasked: String
        do {
            let answer = try await ServiceSocket.connect(settings).get(
                "/api/v1/secrets", as: API.List<API.Secret>.self)
            return KnownSecrets(secrets: answer.items)
        } catch {
            unasked = "\(error)"
        }
        let scan = BotDirectory(directory: settings.bots).scan()
        let states = try SecretCommand.changing { () throws(SettingsError) in
            try SecretState.all(of: settings, scan.bots, recipes: [], in: store, at: WallClock.system.now())
        }
        return KnownSecrets(
            secrets: states.map { API.Secret($0) }, unasked: unasked,
            unreadBots: scan.problems.first?.diagnostics.first?.description)
    }

    /// Returns what uses a secret; `nil` if there is none of this name.
    func uses(of name: String) -> [String]? { secrets.first { $0.name == name }?.uses }

    /// Says on standard error what the list leaves out.
    func remark() {
        if let unasked {
            Output.remark(
                "martlet: recipes in repositories and credentials of the unit are left out, because the service could not be asked: \(unasked)"
            )
        }
        if let unreadBots { Output.remark("martlet: a bot file with errors is left out: \(unreadBots)") }
    }
}
