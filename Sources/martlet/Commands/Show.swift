import API
import ArgumentParser

/// The command `martlet show BOT#N`.
struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows one integration: steps, counts, triggers.")

    @OptionGroup var server: ServerOptions
    @Argument(help: "Such as kit#41, or kit for the latest of a branch or tag.") var integration: IntegrationArgument
    @Option(help: "Which attempt of each configuration; the last when left out.") var attempt: Int?
    @Flag(help: "Print the daemon's JSON.") var json = false

    func run() async throws {
        try await Failure.exiting {
            let connection = try await server.connect(to: integration.address)
            let attempt = attempt ?? integration.address?.attempt
            let path = integration.path + (attempt.map { "?attempt=\($0)" } ?? "")
            if json { return Output.print(try await connection.get(path)) }
            let answer = try await connection.get(path, as: API.IntegrationDetail.self)
            let head = "\(answer.id)  \(answer.shortRef)  \(answer.commit.prefix(12))  \(answer.subject ?? "")"
            Output.print("\(Output.visible(head))\n")
            let cause = ([answer.cause] + [answer.requestedBy].compactMap(\.self)).joined(separator: ", ")
            Output.print("\(Output.visible(cause))\n")
            if let pull = answer.pullText { Output.print(pull) }
            Output.print("\(server.terminal.paint(result: answer.outcome))  \(answer.summary?.sentence ?? "")\n")
            if let reason = answer.reason { Output.print("\(Output.visible(reason))\n") }
            if let project = answer.project { Output.print("\(Output.visible(project))\n") }
            Output.print(answer.configurationText(on: server.terminal))
            let attempted = attempt.map { "?attempt=\($0)" } ?? ""
            let coverage = try await connection.get(
                integration.path + "/coverage" + attempted, as: API.List<API.Coverage>.self)
            if !coverage.items.isEmpty { Output.print("\n" + Output.table(coverage.items.map(\.row))) }
            let triggers = try await connection.get(integration.path + "/triggers", as: API.List<API.TriggerRun>.self)
                .items
            if !triggers.isEmpty {
                let rows = triggers.map { [Cell("trigger \($0.name)"), .result($0.state), Cell($0.words)] }
                Output.print("\n" + server.terminal.table(rows))
            }
        }
    }
}

/// The command `martlet artifacts BOT#N`.
struct Artifacts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "artifacts", abstract: "Lists what an integration archived.")

    @OptionGroup var server: ServerOptions
    @Argument(help: "Such as kit#41, or kit for the latest of a branch or tag.") var integration: IntegrationArgument
    @Option(help: "Of which attempt; the last when left out.") var attempt: Int?
    @Flag(help: "Print the daemon's JSON.") var json = false

    func run() async throws {
        try await Failure.exiting {
            let connection = try await server.connect(to: integration.address)
            let path = integration.path + "/artifacts" + (attempt.map { "?attempt=\($0)" } ?? "")
            if json { return Output.print(try await connection.get(path)) }
            let answer = try await connection.get(path, as: API.ArtifactList.self)
            if answer.items.isEmpty, let reason = answer.notArchived { Output.print(Output.visible(reason) + "\n") }
            Output.print(
                server.terminal.table(
                    ["SHA-256", "BYTES", "FILE", "ADDRESS"],
                    answer.items.map { [Cell($0.sha256), Cell(String($0.size)), Cell($0.path), Cell($0.url)] }))
        }
    }
}
