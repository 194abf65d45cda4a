import GRDB
package import Model

extension Store {
    /// Runs transaction 2: compares a scan with the known heads. In one transaction it stores the new heads and generations, the ref updates, the
    /// integrations they cause, and the outcome of every event received before the scan began.
    ///
    /// Applying the same scan again changes no row. A repository's first scan with thousands of refs is the only transaction that may take longer
    /// than 5 ms, since it cannot be split.
    /// - Throws: `notFound` for a repository that no bot ever had; `tooLarge` above `Look.maximumHeads`.
    package func apply(_ look: Look) async throws(StoreError) -> LookOutcome {
        let operation = "store the look at \(look.request.repository)"
        guard look.heads.count <= Look.maximumHeads else {
            throw StoreError(
                code: .tooLarge, operation: operation,
                message: "it has \(look.heads.count) branches and tags, more than \(Look.maximumHeads); delete old ones"
            )
        }
        return try await lane.write(operation) { transaction in
            var application = try LookApplication(look, transaction)
            return try application.run()
        }
    }

    /// Records that a scan failed. The request stays, so that the scan is tried again; events keep waiting.
    package func lookFailed(_ request: LookRequest, reason: String, at time: Timestamp) async throws(StoreError) {
        try await lane.write("store the failed look at \(request.repository)") { transaction in
            try transaction.db.change(
                "UPDATE repositories SET last_error = ?, failures = failures + 1 WHERE url = ?",
                [reason.kept, request.repository])
            guard transaction.db.changesCount > 0 else { throw Refusal.notFound("repository \(request.repository)") }
            transaction.changed(.repository(request.repository))
        }
    }
}
