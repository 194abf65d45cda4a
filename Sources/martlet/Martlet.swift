import ArgumentParser
import Foundation
import Model
import Settings

/// The program: the daemon (`serve`) and the command-line tool.
@main
struct Martlet: AsyncParsableCommand {
    /// The version of all programs. It is the only place that has it.
    static let version = "0.1.0"

    static let configuration = CommandConfiguration(
        commandName: "martlet",
        abstract: "A continuous-integration bot service.",
        discussion: """
            Commands talk to a running daemon: through its unix socket, or to --server (MARTLET_URL) with --token \
            (MARTLET_TOKEN). All but serve, run, lint, init, schema, verify, doctor, backup, restore and secret set need one. Where a bot \
            or an integration is an argument, the address of its page is one, too.

            Exit status: 0 done; 1 the answer is no (a red integration with --wait, watch or run, an error found by lint); \
            64 a wrong command line; 66 there is no such thing; 69 the daemon cannot be reached; 70 the daemon failed; 73 \
            a file cannot be made; 77 not allowed; 78 the settings are wrong; 130 interrupted.
            """,
        version: version,
        groupedSubcommands: [
            .init(
                name: "The daemon",
                subcommands: [
                    Serve.self, Doctor.self, Prune.self, DiskCommand.self, BackupCommand.self, RestoreCommand.self,
                    PauseCommand.self, ResumeCommand.self,
                    DrainCommand.self, NodeJob.self, NodeProbe.self,
                ]),
            .init(name: "Without a daemon", subcommands: [Run.self]),
            .init(name: "Files that you write", subcommands: [Lint.self, Init.self, Schema.self, ManualPages.self]),
            .init(
                name: "Bots and integrations",
                subcommands: [
                    Bots.self, BotCommand.self, Webhook.self, Integrate.self, Watch.self, Open.self, Integrations.self,
                    Show.self, Log.self, Issues.self, Mute.self, Unmute.self, Muted.self, Tests.self,
                    TestCommand.self, Flaky.self, Artifacts.self, Queue.self, Cancel.self, Rerun.self,
                    PullRequests.self,
                    Approve.self, OutboxCommand.self,
                ]),
            .init(name: "Versions", subcommands: [Versions.self, Fetch.self, Verify.self, Signers.self, Yank.self]),
            .init(name: "Access", subcommands: [TokenCommand.self, SecretCommand.self, Audit.self]),
        ])

    /// Parses the command line and runs its command.
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            if let failure = unknownCommand(in: arguments) { throw failure }
            if let order = NodeJob.Order(arguments) { return try await order.run() }
            var command = try await asyncParseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let failure as Failure {
            failure.print()
            Foundation.exit(failure.status.rawValue)
        } catch  where exitCode(for: error).isSuccess {
            exit(withError: error)
        } catch  where arguments.first == "---completion" {
            // A shell's request for completions. A message would be written into the line that is being typed.
            Foundation.exit(exitCode(for: error).rawValue)
        } catch {
            // The message repeats arguments, which can come from outside.
            let message = fullMessage(for: error)
            if !message.isEmpty { FileHandle.standardError.write(Data("\(message.inSafeLines)\n".utf8)) }
            Foundation.exit(exitCode(for: error).rawValue)
        }
    }

    /// Returns a failure if the first argument that must be a command's name is none, with the name that was probably meant.
    static func unknownCommand(in arguments: [String]) -> Failure? {
        var current: any ParsableCommand.Type = Martlet.self
        var path = ["martlet"]
        for argument in arguments {
            let commands = current.configuration.subcommands
            if commands.isEmpty || argument.hasPrefix("-") { return nil }
            // `martlet help COMMAND` prints the help of that command.
            if argument == "help" { continue }
            let found = commands.first { names($0).contains(argument) }
            guard let found else {
                let known = commands.filter { $0.configuration.shouldDisplay }.flatMap { names($0) }
                let hint = Suggestion.nearest(argument, in: known).map { "; did you mean `\($0)`?" } ?? ";"
                let whole = path.joined(separator: " ")
                return Failure(
                    .usage, "there is no command `\(whole) \(argument)`\(hint) `\(whole) --help` lists the commands")
            }
            current = found
            path.append(argument)
        }
        return nil
    }

    private static func names(_ command: any ParsableCommand.Type) -> [String] {
        [command.configuration.commandName].compactMap(\.self) + command.configuration.aliases
    }
}
