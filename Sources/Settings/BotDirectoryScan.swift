package import Model

/// What a look into the directory of bot files found.
package struct BotDirectoryScan: Hashable, Sendable {
    /// A file that is not taken as it is.
    package struct Problem: Hashable, Sendable {
        /// The file's path, or the directory's when that cannot be read.
        package var file: String
        /// The bot that the file is for; nothing when its name is no bot's name.
        package var bot: Name?
        package var diagnostics: [Diagnostic]
        /// Whether the bot goes on with the last good form of the file.
        package var isLastGoodKept: Bool

        package init(file: String, bot: Name?, diagnostics: [Diagnostic], isLastGoodKept: Bool) {
            self.file = file
            self.bot = bot
            self.diagnostics = diagnostics
            self.isLastGoodKept = isLastGoodKept
        }
    }

    /// By name; an invalid file's bot in its last good form.
    package var bots: [BotSpecification]
    /// By file. Warnings alone are here too; the bot is then taken as it is.
    package var problems: [Problem]
    /// How many files were read and parsed, because they are new or changed.
    package var readFiles: Int

    package init(bots: [BotSpecification], problems: [Problem], readFiles: Int) {
        self.bots = bots
        self.problems = problems
        self.readFiles = readFiles
    }
}
