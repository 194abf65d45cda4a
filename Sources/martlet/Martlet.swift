import ArgumentParser

/// The program: the daemon (`serve`) and the command-line tool.
@main
struct Martlet: AsyncParsableCommand {
    static let version = "0.1.0"

    static let configuration = CommandConfiguration(
        commandName: "martlet",
        abstract: "A continuous-integration bot service.",
        discussion: """
            Commands talk to a running daemon: through its unix socket, or to --server (MARTLET_URL) with --token \
            (MARTLET_TOKEN). All but serve, run, lint, init, schema, verify, doctor and secret set need one.

            Exit status: 0 done; 1 the answer is no (a red integration with --wait or run, an error found by lint); 64 a wrong \
            command line; 66 there is no such thing; 69 the daemon cannot be reached; 70 the daemon failed; 73 \
            a file cannot be made; 77 not allowed; 78 the settings are wrong; 130 interrupted.
            """,
        version: version,
        groupedSubcommands: [
            .init(name: "The daemon", subcommands: [Serve.self, Doctor.self, Prune.self]),
            .init(name: "Without a daemon", subcommands: [Run.self]),
            .init(name: "Files that you write", subcommands: [Lint.self, Init.self, Schema.self]),
            .init(
                name: "Bots and integrations",
                subcommands: [
                    Bots.self, BotCommand.self, Webhook.self, Integrate.self, Integrations.self, Show.self, Log.self,
                    Issues.self, Silence.self, Unsilence.self, Silences.self, Tests.self, TestCommand.self, Flaky.self,
                    Artifacts.self,
                    Queue.self, Cancel.self, Rerun.self, PullRequests.self, Approve.self, OutboxCommand.self,
                ]),
            .init(name: "Versions", subcommands: [Versions.self, Fetch.self, Verify.self, Signers.self, Yank.self]),
            .init(name: "Access", subcommands: [TokenCommand.self, SecretCommand.self]),
        ])
}
