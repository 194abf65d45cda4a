package import Model

/// A reader of a recipe: `.martlet.yml` of a repository, or `recipe:` of a bot file.
package enum RecipeReader {
    /// The recipe's path in a repository.
    package static let fileName = ".martlet.yml"
    /// The most bytes of a recipe that are read; larger ones are errors.
    package static let maximumSize = YAMLGuard.maximumSize
    /// The most configurations; each is a job.
    static let maximumConfigurations = 32
    /// The most flags, variables and patterns of each kind.
    static let maximumEntries = 256
    /// The most analyses; with the steps of a configuration they are steps of a job, which has at most 256.
    static let maximumAnalyses = 128

    /// The known facts about the repository that the recipe is for.
    package enum Project: Sendable {
        /// The repository is not known: a recipe is read without a commit.
        case unknown
        /// The commit's tree was read. The recognition is `nil` if no type fits. The commands are those of the project's own CI.
        case recognized(
            ProjectType.Recognition?, rootEntries: [String], ownCommands: [ProjectTree.OwnCommand] = [])

        /// Returns the project that a tree contains.
        package static func recognized(_ tree: ProjectTree) -> Project {
            .recognized(
                ProjectType.recognize(tree), rootEntries: tree.rootEntries, ownCommands: tree.ownCommands)
        }

        /// Whether the tree was read and no project type with usual commands was recognized.
        var isUnusual: Bool { if case .recognized(nil, _, _) = self { true } else { false } }
    }

    /// Reads the recipe's bytes as stored in git. Bytes that are not UTF-8 are an error with its line number.
    package static func read(
        bytes: [UInt8], file: String, project: Project, isRelease: Bool = false
    ) -> Reading<Recipe> {
        var diagnostics = Diagnostics(file: file)
        guard let yaml = UTF8Text.decode(bytes, &diagnostics) else { return diagnostics.reading(of: nil) }
        return warning(of: project, read(yaml: yaml, file: file, project: project, isRelease: isRelease))
    }

    /// Returns the recipe of a commit without one: a configuration `debug` with the usual commands of its project, and a configuration for each
    /// further kind of project with tests. A project without a known type is tested by the only test command of its own CI. If there is none, the
    /// result is an error that says what to write.
    /// - Parameter isRelease: Whether the commit is one to publish. It is then built optimized, in a configuration `release`.
    package static func withoutRecipe(_ project: Project, isRelease: Bool = false) -> Reading<Recipe> {
        var diagnostics = Diagnostics(file: fileName)
        guard case .recognized(let recognition?, _, _) = project else {
            diagnostics.error(nothingRecognized(project), at: .start)
            return warning(of: project, diagnostics.reading(of: nil))
        }
        let recipe = Recipe(
            configurations: configurations(of: recognition, isRelease: isRelease), projectType: recognition.type,
            recognition: recognition)
        return warning(of: project, diagnostics.reading(of: recipe))
    }

    /// Warns about files of the root that look like the recipe and are ignored.
    static func warning(of project: Project, _ reading: Reading<Recipe>) -> Reading<Recipe> {
        guard case .recognized(_, let entries, _) = project else { return reading }
        let sentences = NearMiss.recipes(in: entries)
        guard !sentences.isEmpty else { return reading }
        var recipe = reading.value
        recipe?.remarks = sentences
        let warnings = sentences.map {
            Diagnostic(file: fileName, line: 1, column: 1, severity: .warning, message: $0)
        }
        return Reading(value: recipe, diagnostics: reading.diagnostics + warnings)
    }

    /// Reads a recipe's text.
    /// - Parameter firstLine: The number of the text's first line in `file`, for a recipe that is part of a bot file.
    /// - Parameter isRelease: Whether the usual configurations, which a recipe without `configurations` has, are built optimized.
    /// - Returns: The recipe with every default filled in. An empty text is a recipe without keys.
    package static func read(
        yaml: String, file: String, project: Project, firstLine: Int = 1, isRelease: Bool = false
    ) -> Reading<Recipe> {
        var diagnostics = Diagnostics(file: file)
        let root = YAMLParser.parse(yaml, firstLine: firstLine, &diagnostics)
        guard !diagnostics.hasErrors else { return diagnostics.reading(of: nil) }
        let start = Position(line: firstLine, column: 1)
        let empty = YAMLNode(position: start, content: .mapping([]))
        let recipe = recipe(root ?? empty, project: project, isRelease: isRelease, &diagnostics)
        return diagnostics.reading(of: recipe)
    }

    static func recipe(
        _ node: YAMLNode, project: Project, isRelease: Bool = false, _ diagnostics: inout Diagnostics
    ) -> Recipe? {
        guard let fields = Fields(node, Keys.recipe, of: "a recipe", &diagnostics) else { return nil }
        var recipe = Recipe(configurations: [])
        var project = project
        if let type: ProjectType = diagnostics.word(fields["project"], "project") {
            project = .recognized(.init(type: type, marker: "`project` in \(diagnostics.file)"), rootEntries: [])
        }
        if case .recognized(let recognition, _, _) = project {
            recipe.recognition = recognition
            recipe.projectType = recognition?.type
        }
        recipe.configurations =
            ConfigurationReader.configurations(fields["configurations"], project: project, &diagnostics)
            ?? recipe.recognition.map { configurations(of: $0, isRelease: isRelease) } ?? [debug]
        if fields["configurations"] == nil, project.isUnusual {
            diagnostics.error(nothingRecognized(project), at: fields.position)
        }
        recipe.analyze = analyses(fields["analyze"], &diagnostics)
        for clash in SecretNames.clashes(in: recipe) {
            diagnostics.error(clash, at: fields.position(of: "configurations"))
        }
        recipe.archive = archive(fields["archive"], recipe.configurations, &diagnostics)
        return recipe
    }

    private static var debug: Recipe.Configuration {
        Recipe.Configuration(name: Name(nearest: "debug"))
    }

    /// Returns `debug` for the first kind of project, and a configuration for each other kind, named after its directory or its type.
    private static func configurations(
        of recognition: ProjectType.Recognition, isRelease: Bool = false
    ) -> [Recipe.Configuration] {
        var first = debug
        if isRelease, !recognition.type.profile.releaseFlags.isEmpty {
            first = Recipe.Configuration(name: Name(nearest: "release"), flags: recognition.type.profile.releaseFlags)
        }
        first.directory = recognition.directory
        first.test = recognition.test?.command
        var all = [first]
        for other in recognition.others ?? [] {
            let name = Name(nearest: other.directory ?? other.type.rawValue)
            // The configuration named `release` is the one that is archived, so no other kind may use that name.
            let isFree = name.description != "release" && !all.contains { $0.name == name }
            var configuration = Recipe.Configuration(
                name: isFree ? name : Name(nearest: "\(name)-\(other.type.rawValue)-\(all.count)"))
            configuration.projectType = other.type
            configuration.directory = other.directory
            all.append(configuration)
        }
        return all
    }

    /// Returns an error that says what to write if no type fits. If the tree is known, it suggests a recipe for the tools found.
    private static func nothingRecognized(_ project: Project) -> String {
        let markers = ProjectType.usualMarkers
        if case .recognized(_, let entries, _) = project, let near = NearMiss.recipes(in: entries).first {
            return "nothing says how to build this repository: \(near)"
        }
        let beginning = "nothing says how to build this repository: none of \(markers) is in its root"
        guard case .recognized(_, let entries, let commands) = project else {
            return "\(beginning); add a \(fileName) with `\(SampleRecipe.unknown)`"
        }
        let own = ProjectTree.OwnCommand.sentence(commands).map { "; \($0)" } ?? ""
        guard let sample = SampleRecipe.fitting(rootEntries: entries) else {
            return "\(beginning)\(own); add a \(fileName) with `\(SampleRecipe.unknown)`"
        }
        return "\(beginning)\(own); \(sample.found) is, so try a \(fileName) with `\(sample.recipe)`"
    }

    private static func analyses(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> [Recipe.Analysis]? {
        guard let node, let items = diagnostics.items(node, "analyze") else { return nil }
        if items.count > maximumAnalyses {
            diagnostics.error(
                "`analyze` has more than \(maximumAnalyses) items; make one command of several", at: node.position)
            return nil
        }
        var analyses: [Recipe.Analysis] = []
        for item in items {
            if case .mapping = item.content {
                guard let fields = Fields(item, Keys.analysis, of: "an analysis", &diagnostics) else { continue }
                let name = StepReader.name(fields, &diagnostics)
                if let command = StepReader.command(fields, "analysis", &diagnostics) {
                    analyses.append(.command(command, name: name))
                }
            } else if let text = diagnostics.line(item, "analyze") {
                let tools = Recipe.Analysis.Tool.allCases.map(\.rawValue)
                if let tool = Recipe.Analysis.Tool(rawValue: text) {
                    analyses.append(.tool(tool))
                } else {
                    diagnostics.error(
                        "\(Printable.quoted(text)) is not the name of an analysis "
                            + "(\(tools.map { "`\($0)`" }.joined(separator: ", ")))"
                            + Suggestion.hint(for: text, in: tools)
                            + "; a command is written `{ run: COMMAND, report: FILE }`", at: item.position)
                }
            }
        }
        return analyses
    }

    private static func archive(
        _ node: YAMLNode?, _ configurations: [Recipe.Configuration], _ diagnostics: inout Diagnostics
    ) -> Recipe.Archive {
        var archive = Recipe.Archive()
        guard let node, let fields = Fields(node, Keys.archive, of: "`archive`", &diagnostics) else { return archive }
        archive.include = diagnostics.filePatterns(fields["include"], "include")
        archive.configuration = diagnostics.name(fields["configuration"], "configuration")
        archive.bundle = diagnostics.truth(fields["bundle"], "bundle")
        if archive.bundle == true, archive.include != nil {
            diagnostics.error(
                "`bundle` packs what a Swift package's products usually are; with `include`, have a step make a directory "
                    + "`NAME.artifactbundle`, and include it", at: fields.position(of: "bundle"))
        }
        if let name = archive.configuration, !diagnostics.hasErrors,
            !configurations.contains(where: { $0.name == name })
        {
            let names = configurations.map(\.name.description)
            diagnostics.error(
                "there is no configuration `\(name)` to archive from"
                    + Suggestion.hint(for: name.description, in: names)
                    + "; there is \(names.map { "`\($0)`" }.joined(separator: ", "))",
                at: fields.position(of: "configuration"))
        }
        if archive.include == nil, !archive.isWritten {
            // An author who writes `archive: {}` wants the usual products.
            let usual = Recipe(configurations: configurations).archivedConfiguration
            archive.configuration = usual
        }
        return archive
    }
}
