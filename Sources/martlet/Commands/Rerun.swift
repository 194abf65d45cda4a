import API
import ArgumentParser

/// The command `martlet rerun BOT#N`.
struct Rerun: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rerun",
        abstract: "Runs a completed integration again: its recorded recipe, with attempts beside those it has.")

    @OptionGroup var server: ServerOptions
    @Argument(help: "Such as kit#41.") var integration: IntegrationArgument
    @Flag(help: "Only the configurations that failed.") var failed = false
    @Option(
        help:
            "Only these tests, as the test tool reads it: swift test --filter, pytest -k, go test -run, and so on; the others keep their outcome."
    )
    var tests: String?
    @Option(name: .customLong("test"), help: "Only this test, by its full name; can be repeated.") var names: [String] =
        []
    @Flag(help: "Only the triggers after the jobs.") var triggers = false
    @Flag(help: "Wait for its end; the exit status is 0 only if it is green.") var wait = false
    @Flag(help: "Print the daemon's JSON.") var json = false

    func run() async throws {
        try await Failure.exiting {
            let connection = try server.connect()
            let body = API.RerunRequest(
                failed: failed, tests: tests, names: names.isEmpty ? nil : names, triggers: triggers)
            let answer = try await connection.post(integration.path + "/rerun", body)
            let queued = try Connection.decode(answer, as: API.QueuedRerun.self)
            if !json {
                let said = "\(queued.id) queued, run \(queued.run): \(queued.shortRef) \(queued.commit.prefix(8))"
                Output.print("\(Output.visible(said))\n")
                for note in queued.notes { Output.print("\(Output.visible(note))\n") }
            }
            guard wait else { return json ? Output.print(answer) : () }
            try await Waiting.verdict(of: queued.detail.integration, connection, json: json)
        }
    }
}
