import Basics
import Model
import Settings
import SourceControl
import Synchronization

/// Reads what a commit runs. The last readings are kept: most commits leave the recipe as it is, and reading YAML takes longer than
/// anything else that the daemon computes for a small build.
final class RecipeMemory: Sendable {
    /// All that a reading depends on.
    private struct Key: Hashable {
        var bot: Name
        /// The bot's own recipe, as bytes: texts are equal in Swift where their letters are composed otherwise.
        var own: [UInt8]?
        var firstLine: Int?
        var rootEntries: [String]
        var file: [UInt8]?
        var project: ProjectTree?
        /// Whether an optimized build is the default.
        var isRelease: Bool

        /// In bytes, of what a repository says.
        var size: Int {
            let texts = project?.texts.values.reduce(0) { $0 + $1.utf8.count } ?? 0
            let names = project?.directories.values.joined().reduce(0) { $0 + $1.utf8.count } ?? 0
            return rootEntries.reduce((file?.count ?? 0) + texts + names) { $0 + $1.utf8.count }
        }
    }

    /// Readings kept, the last used ones, and the most bytes of what one of them was read from: 8 MiB in all, of some KiB usually.
    static let limit = 16
    static let sizeLimit = 512 << 10

    private struct State {
        var kept: [(key: Key, reading: Reading<Recipe>)] = []
        var readings = 0
    }

    private let state = Mutex(State())
    /// A hostile commit's texts take a while, which no thread of the cooperative pool spends on them.
    private let lane = BlockingLane(label: "recipes")

    /// How many are kept.
    var count: Int { state.withLock(\.kept.count) }
    /// How many were not known and had to be read.
    var readings: Int { state.withLock(\.readings) }

    /// What a commit of a ref runs: the one place that decides it, for an integration and for what is shown before a push.
    /// - Parameter ref: `nil` for a commit of no ref that publishes.
    func recipe(of commit: CommitContent, bot: BotSpecification, on ref: RefName?) async -> Reading<Recipe> {
        let isRelease = ref.map(bot.isRelease) ?? false
        return await lane.run { [self] in recipe(of: commit, bot: bot, isRelease: isRelease) }
    }

    /// By the bot's own recipe, else the commit's, else what its project usually runs.
    /// - Parameter isRelease: Whether the ref is one that publishes, whose usual build is the optimized one.
    func recipe(of commit: CommitContent, bot: BotSpecification, isRelease: Bool = false) -> Reading<Recipe> {
        let key = Key(
            bot: bot.name, own: bot.recipe.map { Array($0.yaml.utf8) }, firstLine: bot.recipe?.firstLine,
            rootEntries: commit.rootEntries, file: commit.file, project: commit.project, isRelease: isRelease)
        let known = state.withLock { state -> Reading<Recipe>? in
            guard let index = state.kept.lastIndex(where: { $0.key == key }) else {
                state.readings += 1
                return nil
            }
            let found = state.kept.remove(at: index)
            state.kept.append(found)
            return found.reading
        }
        if let known { return known }
        let reading = Self.read(commit, bot: bot, isRelease: isRelease)
        guard key.size <= Self.sizeLimit else { return reading }
        state.withLock { state in
            if state.kept.count >= Self.limit { state.kept.removeFirst() }
            state.kept.append((key, reading))
        }
        return reading
    }

    private static func read(_ commit: CommitContent, bot: BotSpecification, isRelease: Bool) -> Reading<Recipe> {
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
