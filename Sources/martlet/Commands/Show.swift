import ArgumentParser

/// `martlet show BOT#N`.
struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Shows one integration: steps, counts, triggers.")

    @OptionGroup var server: ServerOptions
    @Argument(help: "Such as kit#41, or kit for the latest.") var integration: IntegrationArgument
    @Option(help: "Which attempt of each configuration; the last when left out.") var attempt: Int?
    @Flag(help: "Print the daemon's JSON.") var json = false

    func run() async throws {
        try await Failure.exiting {
            let connection = try server.connect()
            let path = integration.path + (attempt.map { "?attempt=\($0)" } ?? "")
            if json { return Output.print(try await connection.get(path)) }
            let answer = try await connection.get(path, as: IntegrationAnswer.self)
            Output.print(
                "\(answer.id)  \(answer.shortRef)  \(answer.commit.prefix(12))  \(Output.visible(answer.subject ?? ""))\n"
            )
            Output.print("\(answer.outcome)  \(answer.summary?.sentence ?? "")\n")
            if let reason = answer.reason { Output.print("\(Output.visible(reason))\n") }
            Output.print(answer.configurationText)
            let triggers = try await connection.get(integration.path + "/triggers", as: List<TriggerAnswer>.self).items
            if !triggers.isEmpty {
                Output.print("\n" + Output.table(triggers.map { ["trigger \($0.name)", $0.state, $0.reason ?? ""] }))
            }
        }
    }
}

/// `martlet issues BOT#N`.
struct Issues: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Lists an integration's issues.")

    @OptionGroup var server: ServerOptions
    @Argument(help: "Such as kit#41, or kit for the latest.") var integration: IntegrationArgument
    @Option(help: "new, unresolved, resolved or silenced.") var status: String?
    @Flag(help: "Print the daemon's JSON.") var json = false

    func run() async throws {
        try await Failure.exiting {
            let path = integration.path + "/issues" + (status.map { "?status=\(Escaped.segment($0))" } ?? "")
            let connection = try server.connect()
            if json { return Output.print(try await connection.get(path)) }
            for issue in try await connection.get(path, as: List<IssueAnswer>.self).items {
                let place = [issue.path, issue.line.map(String.init), issue.column.map(String.init)].compactMap(\.self)
                let first = issue.message.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
                Output.print(
                    Output.visible(
                        "\(issue.status): \(place.isEmpty ? "" : place.joined(separator: ":") + ": ")\(issue.category): \(first)"
                    )
                        // A finding of the recipe is no configuration's.
                        + (issue.configurations.isEmpty ? "" : " [\(issue.configurations.joined(separator: ", "))]")
                        + "\n")
            }
        }
    }
}

/// `martlet tests BOT#N`.
struct Tests: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Lists an integration's tests.")

    @OptionGroup var server: ServerOptions
    @Argument(help: "Such as kit#41, or kit for the latest.") var integration: IntegrationArgument
    @Flag(help: "Only failed and crashed ones.") var failing = false
    @Option(help: "Of which attempt; the last when left out.") var attempt: Int?
    @Flag(help: "Print the daemon's JSON.") var json = false

    func run() async throws {
        try await Failure.exiting {
            let path = integration.path + "/tests?failing=\(failing)" + (attempt.map { "&attempt=\($0)" } ?? "")
            let connection = try server.connect()
            if json { return Output.print(try await connection.get(path)) }
            let tests = try await connection.get(path, as: List<TestAnswer>.self).items
            Output.print(
                Output.table(
                    tests.map { test in
                        let name = test.suite.isEmpty ? test.name : "\(test.suite)/\(test.name)"
                        return [
                            test.outcome, test.configuration, name, test.duration.map(Output.duration) ?? "",
                            test.message?.split(whereSeparator: \.isNewline).first.map(String.init) ?? "",
                        ]
                    }))
        }
    }
}

/// `martlet artifacts BOT#N`.
struct Artifacts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Lists what an integration archived.")

    @OptionGroup var server: ServerOptions
    @Argument(help: "Such as kit#41, or kit for the latest.") var integration: IntegrationArgument
    @Option(help: "Of which attempt; the last when left out.") var attempt: Int?
    @Flag(help: "Print the daemon's JSON.") var json = false

    func run() async throws {
        try await Failure.exiting {
            let connection = try server.connect()
            let path = integration.path + "/artifacts" + (attempt.map { "?attempt=\($0)" } ?? "")
            if json { return Output.print(try await connection.get(path)) }
            let artifacts = try await connection.get(path, as: List<ArtifactAnswer>.self).items
            Output.print(Output.table(artifacts.map { [$0.sha256, String($0.size), $0.path, $0.url] }))
        }
    }
}

/// `martlet log BOT#N`.
struct Log: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Prints a configuration's log.")

    @OptionGroup var server: ServerOptions
    @Argument(help: "Such as kit#41, or kit for the latest.") var integration: IntegrationArgument
    @Option(help: "Which configuration; the first when left out.") var configuration: String?
    @Option(help: "Which attempt; the last when left out.") var attempt: Int?
    @Flag(help: "Go on printing until the integration is completed.") var follow = false

    func run() async throws {
        try await Failure.exiting {
            let connection = try server.connect()
            let answer = try await connection.get(integration.path, as: IntegrationAnswer.self)
            // A log that is followed belongs to one integration, also when a newer one appears.
            let root = "/api/v1/bots/\(answer.bot)/integrations/\(answer.number)"
            guard let name = configuration ?? answer.configurations?.first?.name else {
                throw Failure(
                    .notFound, "\(answer.id) has run no configuration\(answer.reason.map { ": \($0)" } ?? "")")
            }
            let path = "\(root)/log/\(Escaped.segment(name))" + (attempt.map { "?attempt=\($0)" } ?? "")
            var offset: Int64 = 0
            while true {
                let isCompleted = try await connection.get(root, as: IntegrationAnswer.self).state == "completed"
                while let bytes = try await connection.range(path, from: offset, to: offset + Self.chunk - 1),
                    !bytes.isEmpty
                {
                    Output.print(TerminalBytes.safe(bytes))
                    offset += Int64(bytes.count)
                }
                if !follow || isCompleted { return }
                try await Task.sleep(for: .milliseconds(200))
            }
        }
    }

    /// Bytes a request.
    private static let chunk: Int64 = 1 << 20
}

/// What a job printed, for somebody else's terminal.
enum TerminalBytes {
    /// Colors (`ESC [ … m`) stay; every other escape's ESC, other C0 controls but tab, LF and CR, and DEL become `?`.
    static func safe(_ bytes: [UInt8]) -> [UInt8] {
        var result = bytes
        for (index, byte) in bytes.enumerated() {
            if byte == 0x1b {
                if !isColor(bytes[index...]) { result[index] = UInt8(ascii: "?") }
            } else if byte < 0x20, ![9, 10, 13].contains(byte) || byte == 0x7f {
                result[index] = UInt8(ascii: "?")
            }
        }
        return result
    }

    private static func isColor(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.dropFirst().first == UInt8(ascii: "[") else { return false }
        for byte in bytes.dropFirst(2).prefix(32) {
            if byte == UInt8(ascii: "m") { return true }
            guard (0x30...0x3b).contains(byte) else { return false }
        }
        return false
    }
}
