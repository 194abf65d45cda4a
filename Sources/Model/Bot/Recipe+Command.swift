extension Recipe {
    /// Whether a step's processes may reach the network. `none` is enforced in the sandbox; without a sandbox it is only recorded.
    package enum Network: String, Hashable, Sendable, Codable, CaseIterable { case none, full }

    /// A command in a recipe that a shell runs, with its own settings.
    package struct Command: Hashable, Sendable, Codable {
        package var run: String
        /// Variables in addition to the configuration's; these take precedence.
        package var environment: [String: String]
        /// The time limit; `nil` means the configuration's, or else the bot's.
        package var timeout: Duration?
        /// The directory relative to the repository's root; `nil` means the root.
        package var workingDirectory: String?
        /// The network; `nil` means the configuration's.
        package var network: Network?
        /// The report files that it writes, as patterns relative to the repository's root.
        package var report: [String]
        /// The names of its secrets. The bot file must allow each one for this step, otherwise the job does not run.
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

        /// Also decodes records of older versions, which have only `run` and `report`.
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

    /// A step of a configuration that defines its own steps.
    package struct Step: Hashable, Sendable, Codable {
        /// The name on pages, and the name by which the bot file gives secrets to the step.
        package var name: Name
        package var kind: Kind
        package var command: Command

        package init(name: Name, kind: Kind, command: Command) {
            self.name = name
            self.kind = kind
            self.command = command
        }

        /// What a failure of the step says about the code. A failed analysis does not end the job; a failed build or test does.
        package enum Kind: String, Hashable, Sendable, Codable, CaseIterable { case analyzing, building, testing }
    }
}

extension Recipe {
    /// The secrets that each analysis and step asks for, in the order of the recipe. Those without secrets are left out.
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
