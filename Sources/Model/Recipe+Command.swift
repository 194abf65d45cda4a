extension Recipe {
    /// Whether a step's processes may reach the network. Inside the fence `none` is held; without one it is only recorded.
    package enum Network: String, Hashable, Sendable, Codable, CaseIterable { case none, full }

    /// A command that the recipe writes out, run by a shell, with its own settings.
    package struct Command: Hashable, Sendable, Codable {
        package var run: String
        /// Added to the configuration's; these win.
        package var environment: [String: String]
        /// `nil`: the configuration's, else the bot's.
        package var timeout: Duration?
        /// Relative to the repository's root; `nil`: the root.
        package var workingDirectory: String?
        /// `nil`: the configuration's.
        package var network: Network?
        /// Report files that it writes, as patterns relative to the repository's root.
        package var report: [String]
        /// Names of secrets. The bot file must give each to this step, else the job does not run.
        package var secrets: [String]

        package init(
            run: String, environment: [String: String] = [:], timeout: Duration? = nil,
            workingDirectory: String? = nil, network: Network? = nil, report: [String] = [], secrets: [String] = []
        ) {
            self.run = run
            self.environment = environment
            self.timeout = timeout
            self.workingDirectory = workingDirectory
            self.network = network
            self.report = report
            self.secrets = secrets
        }

        /// Reads also what an older version recorded, which knew `run` and `report` alone.
        package init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            self.init(
                run: try values.decode(String.self, forKey: .run),
                environment: try values.decodeIfPresent([String: String].self, forKey: .environment) ?? [:],
                timeout: try values.decodeIfPresent(Duration.self, forKey: .timeout),
                workingDirectory: try values.decodeIfPresent(String.self, forKey: .workingDirectory),
                network: try values.decodeIfPresent(Network.self, forKey: .network),
                report: try values.decodeIfPresent([String].self, forKey: .report) ?? [],
                secrets: try values.decodeIfPresent([String].self, forKey: .secrets) ?? [])
        }
    }

    /// A step of a configuration that writes its own.
    package struct Step: Hashable, Sendable, Codable {
        /// As people see it; the bot file gives secrets to steps by this name.
        package var name: Name
        package var kind: Kind
        package var command: Command

        package init(name: Name, kind: Kind, command: Command) {
            self.name = name
            self.kind = kind
            self.command = command
        }

        /// What its end says about the code. A failed analysis stops nothing; a failed build or test ends the job.
        package enum Kind: String, Hashable, Sendable, Codable, CaseIterable { case analyzing, building, testing }
    }
}

extension Recipe {
    /// The secrets that each analysis and step asks for, in the order in which they are written; those that ask for none
    /// are left out.
    package var askedSecrets: [(step: String, secrets: [String])] {
        var asked: [(step: String, secrets: [String])] = []
        for (index, analysis) in (analyze ?? []).enumerated() {
            guard case .command(let command, let name) = analysis, !command.secrets.isEmpty else { continue }
            asked.append((name.map { "the analysis `\($0)`" } ?? "analysis \(index + 1)", command.secrets))
        }
        for configuration in configurations {
            for step in configuration.steps ?? [] where !step.command.secrets.isEmpty {
                asked.append(("the step `\(step.name)` of `\(configuration.name)`", step.command.secrets))
            }
        }
        return asked
    }
}
