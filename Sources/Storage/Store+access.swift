import GRDB
package import Model

extension Store {
    /// The products whose bots' files say who may read them: anybody, or only who has a token. Where they disagree, the latter. A file
    /// that is gone still closes its product, and opens none.
    package func statedAccess() async throws(StoreError) -> [Name: Bool] {
        try await read("read who may read which product") { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT json_extract(specification, '$.product') AS product,
                        max(json_extract(specification, '$.isPublic') = 0) AS is_closed,
                        max(json_extract(specification, '$.isPublic') = 1 AND is_retired = 0) AS is_open
                    FROM bots WHERE json_extract(specification, '$.isPublic') IS NOT NULL GROUP BY 1
                    """)
            var stated: [Name: Bool] = [:]
            for row in rows {
                let name = try row.name("product")
                if row["is_closed"] == true {
                    stated[name] = false
                } else if row["is_open"] == true {
                    stated[name] = true
                }
            }
            return stated
        }
    }

    /// What a bot publishes as, by its last good form; nothing for one that there never was.
    package func product(of bot: Name) async throws(StoreError) -> Name? {
        try await read("read the product of \(bot)") { db in
            try Row.fetchOne(
                db, sql: "SELECT json_extract(specification, '$.product') AS product FROM bots WHERE name = ?",
                arguments: [bot.description]
            ).map { try $0.name("product") }
        }
    }
}
