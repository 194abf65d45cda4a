import GRDB
package import Model

extension Store {
    /// The place of a bot's single comment: a pull request of a repository at a forge.
    package struct CommentPlace: Hashable, Sendable {
        package var bot: Name
        package var number: Int
        package var destination: String
        package var project: String

        package init(bot: Name, number: Int, destination: String, project: String) {
            self.bot = bot
            self.number = number
            self.destination = destination
            self.project = project
        }

        fileprivate var arguments: StatementArguments { [bot.description, number, destination, project] }
    }

    /// Returns the comment's number at the forge; `nil` if no comment exists.
    package func comment(at place: CommentPlace) async throws(StoreError) -> Int64? {
        try await read("read the comment of \(place.bot)") { db in
            try db.first(
                "SELECT comment FROM comments WHERE bot = ? AND number = ? AND destination = ? AND project = ?",
                place.arguments
            ) { try $0[0] }
        }
    }

    /// Stores the comment's number; `nil` if the comment is gone.
    package func setComment(_ comment: Int64?, at place: CommentPlace) async throws(StoreError) {
        try await writer.write("store the comment of \(place.bot)") { transaction in
            guard let comment else {
                return try transaction.db.change(
                    "DELETE FROM comments WHERE bot = ? AND number = ? AND destination = ? AND project = ?",
                    place.arguments)
            }
            try transaction.db.change(
                """
                INSERT INTO comments (bot, number, destination, project, comment) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (bot, number, destination, project) DO UPDATE SET comment = excluded.comment
                """, place.arguments + [comment])
        }
    }
}
