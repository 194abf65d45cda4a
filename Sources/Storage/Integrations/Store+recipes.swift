import GRDB
package import Model

extension Store {
    /// The most recipes that `recipesWithSecrets()` returns.
    package static let maximumRecipesWithSecrets = 1000

    /// Returns the recipes of the newest integration of each branch and tag, as far as their steps ask for secrets; the newest first.
    ///
    /// It reads the recipe of every branch, so it is for rare questions.
    package func recipesWithSecrets() async throws(StoreError) -> [(bot: Name, recipe: Recipe)] {
        try await read("read which recipes ask for secrets") { db in
            try db.all(
                """
                SELECT bots.name AS name, integrations.recipe AS recipe FROM newest_of_refs
                JOIN bots ON bots.id = newest_of_refs.bot
                JOIN integrations ON integrations.id = newest_of_refs.integration
                WHERE is_retired = 0 AND integrations.recipe LIKE '%"secrets":["%'
                ORDER BY integrations.id DESC LIMIT ?
                """, [Self.maximumRecipesWithSecrets]
            ) { row in (bot: try row.name("name"), recipe: try row.json("recipe", as: Recipe.self)) }
            .compactMap { row in row.recipe.map { (bot: row.bot, recipe: $0) } }
        }
    }
}
