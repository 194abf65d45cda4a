import GRDB
package import Model

/// Where a branch left its parent. Its first integration is compared with that of the nearest commit before it that the bot had integrated, so that
/// what was found there is not new.
extension Store {
    /// The most of a bot's newest integrations whose commits can be where a branch began.
    static let maximumParents = 2000

    /// Returns the commits with which an integration could be compared, each with the number of its newest integration. Those are the commits of
    /// the bot's earlier integrations that judged the code. Empty if the integration has one before it on its own ref, belongs to a pull request,
    /// or has one to be compared with already.
    package func parents(of id: IntegrationID) async throws(StoreError) -> [CommitID: Int] {
        try await read("read where \(id) may have begun") { db in
            let isOpen: Bool? = try db.value(
                """
                SELECT pull_request IS NULL AND parted_from IS NULL FROM integrations JOIN bots ON bots.id = bot
                WHERE name = ? AND number = ?
                """, [id.bot.description, id.number])
            guard isOpen == true, try Self.previous(of: id, db) == nil else { return [:] }
            let found: [(CommitID, Int)] = try db.all(
                """
                SELECT "commit", number FROM integrations WHERE bot = (SELECT id FROM bots WHERE name = ?) AND number < ?
                AND state = 'completed' AND pull_request IS NULL AND removed_at IS NULL
                AND verdict NOT IN ('canceled', 'checkout-error', 'internal-error')
                ORDER BY number DESC LIMIT \(Self.maximumParents)
                """, [id.bot.description, id.number]
            ) { (try $0.value("commit") { CommitID($0) }, try $0["number"]) }
            return Dictionary(found) { first, _ in first }
        }
    }

    /// Stores the number of the integration with which a branch's first one is compared.
    /// - Throws: `notFound`.
    package func recordParting(of id: IntegrationID, from number: Int) async throws(StoreError) {
        try await writer.write("store where \(id) began") { transaction in
            let row = try Self.integrationRow(id, transaction.db)
            try transaction.db.change("UPDATE integrations SET parted_from = ? WHERE id = ?", [number, row])
        }
    }

    /// Returns the integration that this one is compared with: the one before it, or for the first one of a branch or tag that of the commit where
    /// it left its parent.
    /// - Returns: `nil` if there is none.
    package func compared(with id: IntegrationID) async throws(StoreError) -> IntegrationRecord? {
        try await read("read what \(id) is compared with") { db in
            try Self.previous(of: id, db)
                ?? db.first(
                    Self.integrationQuery + " WHERE bots.name = ? AND number = \(Self.partedFrom)",
                    [id.bot.description, id.bot.description, id.number], Self.integration)
        }
    }

    /// The number of the integration where a branch began; two arguments name the integration.
    private static let partedFrom = """
        (SELECT parted_from FROM integrations JOIN bots ON bots.id = bot WHERE name = ? AND number = ?)
        """
}
