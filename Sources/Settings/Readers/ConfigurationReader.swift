import Model

/// A reader of a recipe's configurations, in the order in which they are written.
enum ConfigurationReader {
    /// Reads `configurations`. Errors are added to `diagnostics`.
    /// - Returns: `nil` if `configurations` is not written.
    static func configurations(
        _ node: YAMLNode?, project: RecipeReader.Project, _ diagnostics: inout Diagnostics
    ) -> [Recipe.Configuration]? {
        guard let node else { return nil }
        guard case .mapping(let entries) = node.content else {
            diagnostics.error(
                "`configurations` is a mapping from a name to how it is built, as in `debug:`, not \(node.kind)",
                at: node.position)
            return []
        }
        if entries.isEmpty {
            diagnostics.error("`configurations` has none; write one, as in `debug:`", at: node.position)
        }
        if entries.count > RecipeReader.maximumConfigurations {
            diagnostics.error(
                "`configurations` has more than \(RecipeReader.maximumConfigurations) items; remove some",
                at: entries[RecipeReader.maximumConfigurations].position)
            return []
        }
        var configurations: [Recipe.Configuration] = []
        for entry in entries {
            guard let name = Name(entry.key) else {
                diagnostics.error(Diagnostics.badName(entry.key, "configurations"), at: entry.position)
                continue
            }
            let place = "the configuration `\(name)`"
            guard let fields = Fields(entry.value, Keys.configuration, of: place, &diagnostics) else { continue }
            let configuration = configuration(name, fields, &diagnostics)
            if project.isUnusual, configuration.build == nil, configuration.test == nil, fields["build"] == nil,
                fields["test"] == nil || configuration.testsNothing == true, fields["steps"] == nil
            {
                diagnostics.error(
                    "\(place) has neither `build` nor `test` nor `steps`, and no file in the repository's root tells the usual "
                        + "commands; write `build: COMMAND`", at: entry.position)
            }
            configurations.append(configuration)
        }
        return configurations
    }

    private static func configuration(
        _ name: Name, _ fields: Fields, _ diagnostics: inout Diagnostics
    ) -> Recipe.Configuration {
        var configuration = Recipe.Configuration(name: name)
        configuration.flags = flags(fields["flags"], &diagnostics)
        configuration.environment = environment(fields["environment"], &diagnostics)
        configuration.toolchain = toolchain(fields["toolchain"], &diagnostics)
        configuration.build = diagnostics.command(fields["build"], "build")
        if saysNone(fields["test"]) {
            configuration.testsNothing = true
        } else {
            configuration.test = diagnostics.command(fields["test"], "test")
        }
        configuration.testOnly = diagnostics.command(fields["test-only"], "test-only")
        if let only = fields["test-only"], configuration.test == nil {
            diagnostics.error(
                "`test-only` runs some of the tests that `test` runs; write `test: COMMAND` beside it",
                at: only.position)
        }
        configuration.report = diagnostics.filePatterns(fields["report"], "report") ?? []
        configuration.timeout = diagnostics.duration(
            fields["timeout"], "timeout", within: BotFileReader.timeoutRange)
        configuration.network = diagnostics.word(fields["network"], "network")
        configuration.image = diagnostics.name(fields["image"], "image")
        configuration.needs = NeedsReader.needs(fields["needs"], &diagnostics)
        configuration.steps = StepReader.steps(fields["steps"], &diagnostics)
        if configuration.testsNothing == true { refuseTests(of: configuration, fields, &diagnostics) }
        if configuration.steps != nil { refuseShortcuts(fields, &diagnostics) }
        return configuration
    }

    /// The value of `test` for a project without tests.
    static let none = "none"

    private static func saysNone(_ node: YAMLNode?) -> Bool {
        if case .scalar(none, _) = node?.content { true } else { false }
    }

    /// Refuses keys and steps that contradict `test: none`.
    private static func refuseTests(
        of configuration: Recipe.Configuration, _ fields: Fields, _ diagnostics: inout Diagnostics
    ) {
        if let step = configuration.steps?.first(where: { $0.kind == .testing }) {
            diagnostics.error(
                "`test: none` says that nothing is tested, and the step `\(step.name)` tests; remove one of them",
                at: fields.position(of: "test"))
        }
        if fields["report"] != nil, configuration.steps == nil {
            diagnostics.error(
                "`report` names what the test command writes, and `test: none` says that there is none; remove one of them",
                at: fields.position(of: "report"))
        }
    }

    /// Refuses the short keys beside `steps`, which describes everything that is built and tested: they would be ignored.
    private static func refuseShortcuts(_ fields: Fields, _ diagnostics: inout Diagnostics) {
        for key in ["build", "test"] where fields[key] != nil && !(key == "test" && saysNone(fields[key])) {
            let kind = key == "build" ? "building" : "testing"
            diagnostics.error(
                "`steps` stands in place of `\(key)`; write it as a step, "
                    + "`{ name: \(key), step: \(kind), run: COMMAND }`", at: fields.position(of: key))
        }
        if fields["report"] != nil {
            diagnostics.error(
                "a configuration with `steps` has no `report` of its own; move it into the step that writes the report",
                at: fields.position(of: "report"))
        }
    }

    private static func flags(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> [String] {
        guard let node else { return [] }
        if case .scalar(let text, _) = node.content, text.contains(where: \.isWhitespace) {
            let list = text.split(whereSeparator: \.isWhitespace).joined(separator: ", ")
            diagnostics.error("`flags` is a list, one flag an item; write `flags: [\(list)]`", at: node.position)
            return []
        }
        let flags = diagnostics.texts(node, "flags") ?? []
        if flags.count > RecipeReader.maximumEntries {
            diagnostics.error(
                "`flags` has more than \(RecipeReader.maximumEntries) items; remove some", at: node.position)
        }
        return flags
    }

    static func environment(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> [String: String] {
        guard let node else { return [:] }
        guard case .mapping(let entries) = node.content else {
            diagnostics.error(
                "`environment` is a mapping, as in `{ NAME: value }`, not \(node.kind)", at: node.position)
            return [:]
        }
        if entries.count > RecipeReader.maximumEntries {
            diagnostics.error(
                "`environment` has more than \(RecipeReader.maximumEntries) variables; remove some", at: node.position)
            return [:]
        }
        var environment: [String: String] = [:]
        for entry in entries {
            guard EnvironmentNames.isName(entry.key) else {
                diagnostics.error(
                    "\(Printable.quoted(entry.key)) is not a variable's name: letters, digits and `_`, no digit first",
                    at: entry.position)
                continue
            }
            guard !EnvironmentNames.isService(entry.key) else {
                diagnostics.error("\(entry.key) is set by the service; choose another name", at: entry.position)
                continue
            }
            guard case .scalar(let text, _) = entry.value.content else {
                diagnostics.error(
                    "`\(entry.key)` is a text, not \(entry.value.kind)", at: entry.value.position)
                continue
            }
            guard text.utf8.count <= Diagnostics.maximumText, !text.utf8.contains(0) else {
                diagnostics.error("`\(entry.key)` is too long or has a NUL in it", at: entry.value.position)
                continue
            }
            environment[entry.key] = entry.value.isNull ? "" : text
        }
        return environment
    }

    private static func toolchain(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> String? {
        guard let node, let path = diagnostics.line(node, "toolchain") else { return nil }
        guard path.hasPrefix("/"), !path.split(separator: "/").contains(".."), !path.contains(":") else {
            diagnostics.error(
                "`toolchain` is an absolute directory whose `usr/bin` holds the tools, such as /opt/swift-nightly, not "
                    + Printable.quoted(path), at: node.position)
            return nil
        }
        return path
    }
}

/// Names of environment variables.
enum EnvironmentNames {
    /// Returns whether a text is `[A-Za-z_][A-Za-z0-9_]*` with at most 128 bytes: the names that POSIX shells support (XCU 3.230, "Name").
    static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, text.utf8.count <= 128, !(0x30...0x39).contains(first) else { return false }
        return text.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x5F
        }
    }

    /// Returns whether the service sets the variable to describe the integration. A recipe cannot change it.
    static func isService(_ name: String) -> Bool {
        name == "CI" || name == "XCS" || name.hasPrefix("XCS_") || name.hasPrefix("MARTLET_")
    }
}
