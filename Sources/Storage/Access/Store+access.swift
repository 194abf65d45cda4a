import GRDB
package import Model
import Synchronization

extension Store {
    /// Returns the products whose bots' files set `public`, with its value: `true` for products that everybody may read, `false` for those that need
    /// a token. If files disagree, the product needs a token. A file that is gone can still close its product, but not open it.
    ///
    /// Each request for a product needs this, so it is cached until bots or versions change.
    package func statedAccess() async throws(StoreError) -> [Name: Bool] {
        // The stamp is read before the rows, so that a change made meanwhile causes the next call to read them again.
        let stamp = publishings
        if let kept = access.withLock({ $0 }), kept.stamp == stamp { return kept.stated }
        let stated = try await readAccess()
        access.withLock { $0 = (stamp, stated) }
        return stated
    }

    private func readAccess() async throws(StoreError) -> [Name: Bool] {
        try await read("read who may read which product") { db in
            let rows = try db.rows(
                """
                SELECT json_extract(specification, '$.product') AS product,
                    max(json_extract(specification, '$.isPublic') = 0) AS is_closed,
                    max(json_extract(specification, '$.isPublic') = 1 AND is_retired = 0) AS is_open
                FROM bots WHERE json_extract(specification, '$.isPublic') IS NOT NULL GROUP BY 1
                """)
            var stated: [Name: Bool] = [:]
            for row in rows {
                let name = try row.name("product")
                if try row["is_closed"] == true {
                    stated[name] = false
                } else if try row["is_open"] == true {
                    stated[name] = true
                }
            }
            // A product that a bot published under an earlier name is closed as well.
            let closed = try db.rows("SELECT name FROM bots WHERE json_extract(specification, '$.isPublic') = 0")
                .map { try $0.name("name") }
            let present = Set(
                try db.rows("SELECT json_extract(specification, '$.product') AS product FROM bots WHERE is_retired = 0")
                    .map { try $0.name("product") })
            for bot in closed {
                let ids = IntegrationID.texts(of: bot)
                let published = try db.rows(
                    """
                    SELECT DISTINCT product FROM versions WHERE integration >= ? AND integration < ? AND state = 'published'
                    """, [ids.lowerBound, ids.upperBound]
                ).map { try $0.name("product") }
                for product in published where !present.contains(product) && stated[product] == nil {
                    stated[product] = false
                }
            }
            return stated
        }
    }

    /// Returns the products of the versions that an integration made.
    package func products(madeBy id: IntegrationID) async throws(StoreError) -> [Name] {
        try await read("read what \(id) published") { db in
            try db.all("SELECT DISTINCT product FROM versions WHERE integration = ?", ["\(id)"]) {
                try $0.name("product")
            }
        }
    }

    /// Returns the product that a bot publishes, according to its last valid specification; `nil` for a bot that never existed.
    package func product(of bot: Name) async throws(StoreError) -> Name? {
        try await read("read the product of \(bot)") { db in
            try db.row(
                "SELECT json_extract(specification, '$.product') AS product FROM bots WHERE name = ?",
                [bot.description]
            ).map { try $0.name("product") }
        }
    }
}

extension Store {
    /// Returns the bots that make a product: those whose last valid files name it, retired ones among them, and those that published a version of it.
    /// Empty for a product that no bot ever made.
    package func makers(of product: Name) async throws(StoreError) -> [Name] {
        try await read("read which bots make \(product)") { db in
            let named = try db.all(
                "SELECT name FROM bots WHERE json_extract(specification, '$.product') = ?", [product.description]
            ) { try $0.name("name") }
            let published = try db.all(
                "SELECT DISTINCT integration FROM versions WHERE product = ?", [product.description]
            ) { try $0.value("integration") { IntegrationID($0) } }
            return Set(named + published.map(\.bot)).sorted()
        }
    }
}
