import API
import ArgumentParser
import Model

/// The command `martlet prune`.
struct Prune: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract:
            "Removes the integrations that `retention` lets go of; --dry-run only says what stays and goes, and why.")

    @OptionGroup var server: ServerOptions
    @Flag(help: "Remove nothing.") var dryRun = false
    @Option(help: "Only this bot's integrations.") var bot: String?
    @Flag(help: "Print the daemon's JSON.") var json = false

    func run() async throws {
        try await Failure.exiting {
            let connection = try server.connect()
            let body = API.PruneRequest(dryRun: dryRun, bot: bot)
            if json { return Output.print(try await connection.post("/api/v1/prune", body)) }
            Output.print(Self.text(of: try await connection.post("/api/v1/prune", body, as: API.PruneReport.self)))
        }
    }

    static func text(of answer: API.PruneReport) -> String {
        let verb = answer.done ? "removed" : "goes"
        let rows = answer.items.map { item in
            [
                item.goes ? verb : "stays", item.integration, ByteCount(item.bytes).description,
                Int(clamping: item.files).counting("file"), item.reason,
            ]
        }
        var lines = Output.table(rows)
        if answer.omitted > 0 { lines += "… and \(answer.omitted) more that stay or go\n" }
        for product in answer.versions {
            lines +=
                "stays  \(product.versions.counting("version")) of \(product.product), "
                + "\(ByteCount(product.bytes)): what was published is never removed\n"
        }
        lines += "\(answer.done ? "removed" : "would remove") \(total(answer.removes)); \(total(answer.keeps)) stay\n"
        if let counted = answer.countedTo { return lines + "ages are counted up to \(counted)\n" }
        return lines + "no age is counted: the clock is not set\n"
    }

    private static func total(_ total: API.PruneReport.Total) -> String {
        "\(total.integrations.counting("integration")) (\(Int(clamping: total.files).counting("file")), \(ByteCount(total.bytes)))"
    }
}
