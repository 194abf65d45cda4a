import API
import ArgumentParser
import Encodings

/// The command `martlet issues BOT#N`.
struct Issues: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "issues",
        abstract: "Lists an integration's issues, each with its fingerprint, its age and who introduced it.")

    @OptionGroup var server: ServerOptions
    @Argument(help: "Such as kit#41, or kit for the latest of a branch or tag.") var integration: IntegrationArgument
    @Option(
        help: "new, unresolved, resolved or muted.", completion: .list(["new", "unresolved", "resolved", "muted"]))
    var status: String?
    @Flag(help: "Print the daemon's JSON: at most 5,000 issues; `next` is what --after takes for those that follow.")
    var json = false
    @Option(help: "With --json: how many come before.") var after: Int?
    @Flag(help: "Print all of them as SARIF 2.1.0, for other tools.") var sarif = false

    func run() async throws {
        try await Failure.exiting {
            let connection = try await server.connect(to: integration.address)
            if sarif { return Output.print(try await connection.get(integration.path + "/issues.sarif")) }
            if json { return Output.print(try await connection.get(path(after: after.map(String.init)))) }
            var next: String?
            repeat {
                let page = try await connection.get(path(after: next), as: API.List<API.Issue>.self)
                for issue in page.items { Output.print(issue.text(of: integration.bot, on: server.terminal)) }
                next = page.next
            } while next != nil
        }
    }

    private func path(after: String?) -> String {
        var path = integration.path + "/issues?limit=5000"
        // The API calls a muted issue silenced.
        if let status { path += "&status=\(PercentEncoding.encode(status == "muted" ? "silenced" : status))" }
        if let after { path += "&after=\(PercentEncoding.encode(after))" }
        return path
    }
}

extension API.Issue {
    /// Returns a line with the place and the problem. For a present issue a second line has its history.
    func text(of bot: String, on terminal: Terminal) -> String {
        let place = [path, line.map(String.init), column.map(String.init)].compactMap(\.self)
        let first = message.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        // The rule of a failed test is its name. Rules of Martlet's own are no names.
        let test = category == "test-failure" && !rule.hasPrefix("martlet.") ? "\(rule): " : ""
        let what = "\(place.isEmpty ? "" : place.joined(separator: ":") + ": ")\(category): \(test)\(first)"
        // A finding about the recipe belongs to no configuration.
        let line =
            terminal.paint(result: status == "silenced" ? "muted" : status) + ": "
            + Output.visible(
                what + (configurations.isEmpty ? "" : " [\(configurations.joined(separator: ", "))]")) + "\n"
        guard status != "resolved" else { return line }
        var life = [String(fingerprint.prefix(12))]
        if age > 1 { life.append("\(age) integrations" + (since.map { ", since \(bot)#\($0)" } ?? "")) }
        if let introducedBy {
            let sureness = introducedBy.confidence == "high" ? "" : "perhaps "
            life.append(
                "\(sureness)by \(introducedBy.author) in \(introducedBy.commit.prefix(12)) (\(introducedBy.strategy))")
        }
        if let silence {
            let until = silence.expires.map { " until \($0)" } ?? ""
            life.append(
                "\(silence.expired ? "was muted" : "muted") by \(silence.person)\(until): \(silence.reason)")
        }
        return line + "    " + Output.visible(life.joined(separator: "; ")) + "\n"
    }
}
