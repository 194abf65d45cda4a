import Model

/// A reader of the commands in a recipe: a configuration's `steps`, and commands of `analyze`.
enum StepReader {
    /// The most steps of one configuration. Together with the analyses, a job has at most 256.
    static let maximumSteps = 64
    /// The names of the service's own steps, by which readers of results recognize them.
    static let reservedNames = ["resolve", "list", "archive"]

    /// Reads the steps. Errors are added to `diagnostics`.
    /// - Returns: `nil` if `steps` is not written.
    static func steps(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> [Recipe.Step]? {
        guard let node, let items = diagnostics.items(node, "steps", allowsOne: false) else { return nil }
        if items.isEmpty {
            diagnostics.error("`steps` has none; write one, or remove it for the usual commands", at: node.position)
        }
        if items.count > maximumSteps {
            diagnostics.error(
                "`steps` has more than \(maximumSteps) items; make one step of several",
                at: items[maximumSteps].position)
            return []
        }
        var steps: [Recipe.Step] = []
        var places: [Name: Position] = [:]
        for item in items {
            guard let step = step(item, &diagnostics) else { continue }
            if let first = places[step.name] {
                diagnostics.error(
                    "a step named `\(step.name)` is there already, in line \(first.line)", at: item.position)
            }
            places[step.name] = item.position
            steps.append(step)
        }
        return steps
    }

    private static func step(_ node: YAMLNode, _ diagnostics: inout Diagnostics) -> Recipe.Step? {
        guard let fields = Fields(node, Keys.step, of: "a step", &diagnostics) else { return nil }
        let name = name(fields, &diagnostics)
        if fields["name"] == nil, !fields.hasRefused {
            diagnostics.error("the step has no `name`", at: fields.position)
        }
        let kind: Recipe.Step.Kind? = diagnostics.word(fields["step"], "step")
        if fields["step"] == nil, !fields.hasRefused {
            diagnostics.error(
                "the step has no `step`, which says what its failure means; write `step: building`, `testing` or `analyzing`",
                at: fields.position)
        }
        guard let command = command(fields, "step", &diagnostics), let name, let kind else { return nil }
        return Recipe.Step(name: name, kind: kind, command: command)
    }

    /// Reads the name of a step; `nil` if it has none, or an invalid one.
    static func name(_ fields: Fields, _ diagnostics: inout Diagnostics) -> Name? {
        guard let name = diagnostics.name(fields["name"], "name") else { return nil }
        guard !reservedNames.contains(name.description) else {
            diagnostics.error(
                "`\(name)` is the name of a step of the service's own; choose another", at: fields.position(of: "name"))
            return nil
        }
        return name
    }

    /// Reads a command; `nil` after an error in `run`.
    /// - Parameter noun: The kind of element that contains the command, for messages.
    static func command(_ fields: Fields, _ noun: String, _ diagnostics: inout Diagnostics) -> Recipe.Command? {
        let run = diagnostics.command(fields["run"], "run")
        if fields["run"] == nil, !fields.hasRefused {
            diagnostics.error("the \(noun) has no `run`", at: fields.position)
        }
        var command = Recipe.Command(run: run ?? "")
        command.report = diagnostics.filePatterns(fields["report"], "report") ?? []
        command.environment = ConfigurationReader.environment(fields["environment"], &diagnostics)
        command.timeout = diagnostics.duration(
            fields["timeout"], "timeout", within: BotFileReader.timeoutRange)
        command.workingDirectory = workingDirectory(fields["working-directory"], &diagnostics)
        command.network = diagnostics.word(fields["network"], "network")
        command.secrets = SecretNames.read(fields["secrets"], &diagnostics)
        return run == nil ? nil : command
    }

    private static func workingDirectory(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> String? {
        guard let node, let path = diagnostics.line(node, "working-directory") else { return nil }
        guard FilePath.isBeneath(path) else {
            diagnostics.error(
                "\(Printable.quoted(path)) leaves the repository; `working-directory` is relative to its root, without "
                    + "`..`", at: node.position)
            return nil
        }
        return path
    }
}
