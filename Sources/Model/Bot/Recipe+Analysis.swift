extension Recipe {
    /// An analysis: a known tool (`swift-format`, `clang`), or any command with a report.
    package enum Analysis: Hashable, Sendable {
        case tool(Tool)
        /// A command. Without a name it is called by its position: `analyze-2`.
        case command(Command, name: Name? = nil)

        /// A tool whose command and report format Martlet knows.
        package enum Tool: String, Sendable, Codable, CaseIterable {
            case swiftFormat = "swift-format"
            case clang
        }
    }
}

/// Written by hand, so that it also decodes records from before commands had more than `run` and `report`.
extension Recipe.Analysis: Codable {
    private enum Keys: String, CodingKey { case tool, command, name }
    private enum ToolKeys: String, CodingKey { case value = "_0" }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Keys.self)
        if values.contains(.tool) {
            let tool = try values.nestedContainer(keyedBy: ToolKeys.self, forKey: .tool)
            self = .tool(try tool.decode(Tool.self, forKey: .value))
        } else {
            self = .command(
                try values.decode(Recipe.Command.self, forKey: .command),
                name: try values.decodeIfPresent(Name.self, forKey: .name))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Keys.self)
        switch self {
        case .tool(let tool):
            var nested = values.nestedContainer(keyedBy: ToolKeys.self, forKey: .tool)
            try nested.encode(tool, forKey: .value)
        case .command(let command, let name):
            try values.encode(command, forKey: .command)
            try values.encodeIfPresent(name, forKey: .name)
        }
    }
}
