import GRDB
package import Model

extension Store {
    /// Returns the pull request in an integration's row; `nil` if it belongs to a branch or a tag.
    static func pull(_ row: StoredRow) throws -> IntegratedPullRequest? {
        guard let number: Int = try row["pull_request"] else { return nil }
        return IntegratedPullRequest(
            number: number, place: try row.ref("pull_place"), base: try row.ref("base"),
            baseCommit: try row.value("base_commit") { CommitID($0) }, head: try row.value("head") { CommitID($0) },
            source: (try row["source"] as String?).map { RefName($0) }, approvedBy: try row["approved_by"],
            unmerged: try row["unmerged"])
    }

    static func store(_ pull: IntegratedPullRequest, of integration: Int64, _ db: Database) throws {
        try db.change(
            """
            UPDATE integrations SET pull_request = ?, pull_place = ?, base = ?, base_commit = ?, head = ?, source = ?,
                approved_by = ?, unmerged = ? WHERE id = ?
            """,
            [
                pull.number, pull.place.description, pull.base.description, pull.baseCommit.description,
                pull.head.description, pull.source?.description, pull.approvedBy?.kept, pull.unmerged?.kept,
                integration,
            ])
    }

    /// Stores the result of merging a pull request's head into its base.
    /// - Parameters:
    ///   - commit: The merge commit, or the head if it was not merged.
    ///   - unmerged: Why the head was not merged; `nil` if it was.
    /// - Returns: The updated integration.
    /// - Throws: `notFound`.
    package func recordMerge(
        of id: IntegrationID, commit: CommitID, unmerged: String?
    ) async throws(StoreError) -> IntegrationRecord {
        try await writer.write("store the merge of \(id)") { transaction in
            let row = try Self.integrationRow(id, transaction.db)
            try transaction.db.change(
                "UPDATE integrations SET \"commit\" = ?, unmerged = ? WHERE id = ?",
                [commit.description, unmerged?.kept, row])
            transaction.changed(.integration(id))
            transaction.passes("integration.merged")
            return try Self.integration(id, transaction.db)
        }
    }
}
