package import Model

/// The result of scanning the directory of bot files.
package struct BotDirectoryScan: Hashable, Sendable {
    /// An error or a warning in a bot file, or in the directory.
    package struct Problem: Hashable, Sendable {
        /// The file's path; the directory's path if it cannot be read.
        package var file: String
        /// The bot of the file; `nil` if the file's name is no valid bot name.
        package var bot: Name?
        package var diagnostics: [Diagnostic]
        /// Whether the bot continues with the last valid specification from the file.
        package var isLastGoodKept: Bool

        package init(file: String, bot: Name?, diagnostics: [Diagnostic], isLastGoodKept: Bool) {
            self.file = file
            self.bot = bot
            self.diagnostics = diagnostics
            self.isLastGoodKept = isLastGoodKept
        }
    }

    /// The bots by name. A bot whose file is invalid has its last valid specification.
    package var bots: [BotSpecification]
    /// The problems by file. A file with only warnings is included; its bot is used.
    package var problems: [Problem]
    /// The number of files that were read and parsed because they are new or changed.
    package var readFiles: Int

    package init(bots: [BotSpecification], problems: [Problem], readFiles: Int) {
        self.bots = bots
        self.problems = problems
        self.readFiles = readFiles
    }
}
