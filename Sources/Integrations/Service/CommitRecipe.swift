import Basics
import Model
import Settings
import SourceControl

/// Reads the recipe of a commit. This is the one place that decides it, for an integration and for the preview before a push.
struct CommitRecipe: Sendable {
    /// The queue on which recipes are read. The texts of a hostile commit take a while, which must not block a thread of the cooperative pool.
    private let queue = SerialQueue(label: "recipes")

    /// Reads the bot's own recipe. If it has none, reads the commit's recipe; if the commit has none, returns the default recipe of its kind of
    /// project.
    /// - Parameter ref: The ref of the commit. If the bot publishes from it, the default build is the optimized one. `nil` for a commit of no ref
    ///   that publishes.
    /// - Returns: The recipe with its diagnostics. The recipe is `nil` if one of them is an error.
    func recipe(of commit: CommitContent, bot: BotSpecification, on ref: RefName?) async -> Reading<Recipe> {
        let isRelease = ref.map(bot.isRelease) ?? false
        return await queue.run { Self.read(commit, bot: bot, isRelease: isRelease) }
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
