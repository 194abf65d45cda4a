import Model

/// Checks of the files that users write.
package enum Lint {
    /// The file formats.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case settings, bot, recipe
    }

    /// Checks a file's text.
    /// - Parameters:
    ///   - path: The path, for messages, and to determine the kind and the bot's name.
    ///   - kind: The format; `nil` to determine it by the file's name, or else by its keys.
    ///   - project: The project that a recipe is for.
    /// - Returns: All problems, in the order of the file. Only the text is checked.
    package static func file(
        path: String, text: String, kind: Kind? = nil, project: RecipeReader.Project = .unknown
    ) -> [Diagnostic] {
        switch kind ?? recognized(path: path, text: text) {
        case .settings:
            let defaults = ServiceSettings.Defaults.system(processors: 1)
            return SettingsReader.read(yaml: text, file: path, defaults: defaults).diagnostics
        case .recipe:
            return RecipeReader.warning(of: project, RecipeReader.read(yaml: text, file: path, project: project))
                .diagnostics
        case .bot:
            let word = FilePath.yamlName(of: path) ?? FilePath.lastComponent(of: path)
            guard let name = Name(word) else {
                var diagnostics = Diagnostics(file: path)
                diagnostics.error("the file's name is the bot's: " + Diagnostics.badName(word, "the bot"), at: .start)
                return diagnostics.list
                    + BotFileReader.read(yaml: text, file: path, name: Name(nearest: word)).diagnostics
            }
            return BotFileReader.read(yaml: text, file: path, name: name).diagnostics
        }
    }

    /// Checks a file's bytes. Bytes that are not UTF-8 are an error with its line number.
    package static func file(
        path: String, bytes: [UInt8], kind: Kind? = nil, project: RecipeReader.Project = .unknown
    ) -> [Diagnostic] {
        var diagnostics = Diagnostics(file: path)
        guard let text = UTF8Text.decode(bytes, &diagnostics) else { return diagnostics.list }
        return file(path: path, text: text, kind: kind, project: project)
    }

    /// Returns a remark about how commands of several lines run, if the file's recipe has one.
    /// - Returns: `nil` if no command has several lines, and for a file with errors.
    package static func remark(
        path: String, bytes: [UInt8], kind: Kind? = nil, project: RecipeReader.Project = .unknown
    ) -> String? {
        var ignored = Diagnostics(file: path)
        guard let text = UTF8Text.decode(bytes, &ignored) else { return nil }
        let recipe: Recipe?
        switch kind ?? recognized(path: path, text: text) {
        case .settings: recipe = nil
        case .recipe: recipe = RecipeReader.read(yaml: text, file: path, project: project).value
        case .bot:
            let bot = BotFileReader.read(yaml: text, file: path, name: Name(nearest: path)).value
            recipe = bot?.recipe.flatMap { RecipeReader.read(yaml: $0.yaml, file: path, project: .unknown).value }
        }
        guard let recipe, commands(of: recipe).contains(where: hasSeveralLines) else { return nil }
        return
            "a command of several lines ends at the first line that fails (set -e, and pipefail); `set +e` in it goes on"
    }

    private static func commands(of recipe: Recipe) -> [String] {
        let built = recipe.configurations.flatMap { configuration in
            [configuration.build, configuration.test].compactMap(\.self)
                + (configuration.steps ?? []).map(\.command.run)
        }
        let analyses = (recipe.analyze ?? []).compactMap { analysis -> String? in
            if case .command(let command, _) = analysis { command.run } else { nil }
        }
        return built + analyses
    }

    private static func hasSeveralLines(_ command: String) -> Bool {
        command.split(whereSeparator: \.isNewline).count { !$0.allSatisfy(\.isWhitespace) } > 1
    }

    /// Returns a file's format. It is determined by the usual file names, or else by the first key that only one format has. The default is `bot`.
    package static func recognized(path: String, text: String) -> Kind {
        let name = FilePath.lastComponent(of: path)
        if [".martlet.yml", ".martlet.yaml"].contains(name) { return .recipe }
        if ["martlet.yml", "martlet.yaml"].contains(name) { return .settings }
        if FilePath.lastComponent(of: FilePath.parent(of: path)) == "bots" { return .bot }
        var ignored = Diagnostics(file: path)
        guard let root = YAMLParser.parse(text, &ignored), case .mapping(let entries) = root.content else {
            return .bot
        }
        let own: [(kind: Kind, keys: Set<String>)] = [
            (.bot, Set(Keys.bot.map(\.name)).subtracting(Keys.settings.map(\.name))),
            (.recipe, Set(Keys.recipe.map(\.name))),
            (.settings, Set(Keys.settings.map(\.name)).subtracting(Keys.bot.map(\.name))),
        ]
        for entry in entries {
            if let match = own.first(where: { $0.keys.contains(entry.key) }) { return match.kind }
        }
        return .bot
    }
}
