import Basics
import Model
import Settings
import SourceControl

/// Reads what a commit runs: the one place that decides it, for an integration and for what is shown before a push.
struct CommitRecipe: Sendable {
    /// A hostile commit's texts take a while, which no thread of the cooperative pool spends on them.
    private let lane = BlockingLane(label: "recipes")

    /// Reads the bot's own recipe, else the commit's, else what its project usually runs.
    /// - Parameter ref: If the bot publishes from it, the usual build is the optimized one. `nil` for a commit of no ref that publishes.
    /// - Returns: The recipe with its diagnostics. There is no value if one of them is an error.
    func recipe(of commit: CommitContent, bot: BotSpecification, on ref: RefName?) async -> Reading<Recipe> {
        let isRelease = ref.map(bot.isRelease) ?? false
        return await lane.run { Self.read(commit, bot: bot, isRelease: isRelease) }
    }

    static func read(_ commit: CommitContent, bot: BotSpecification, isRelease: Bool) -> Reading<Recipe> {
        let (entries, name) = (commit.rootEntries, RecipeReader.fileName)
        let project = RecipeReader.Project.recognized(commit.project ?? ProjectTree(rootEntries: entries))
        if let own = bot.recipe {
            return RecipeReader.read(
                yaml: own.yaml, file: "\(bot.name).yml", project: project, firstLine: own.firstLine,
                isRelease: isRelease)
        }
        if entries.contains(name) {
            guard let bytes = commit.file else {
                let message = "\(name) is no regular file, or larger than \(RecipeReader.maximumSize) bytes"
                return Reading(
                    value: nil,
                    diagnostics: [Diagnostic(file: name, line: 1, column: 1, severity: .error, message: message)])
            }
            return RecipeReader.read(bytes: bytes, file: name, project: project, isRelease: isRelease)
        }
        return RecipeReader.withoutRecipe(project, isRelease: isRelease)
    }
}
