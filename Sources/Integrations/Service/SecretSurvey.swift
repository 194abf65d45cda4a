import Basics
package import Model
package import Settings
package import Storage

/// Answers which secrets there are and what uses each. It never returns a value.
package struct SecretSurvey: Sendable {
    private let store: Store
    private let registry: BotRegistry
    private let settings: RunningSettings
    private let secrets: SecretStore
    private let clock: WallClock
    private let queue = SerialQueue(label: "secret-survey")

    /// - Parameter secrets: All secrets, also the service's own.
    package init(
        store: Store, registry: BotRegistry, settings: RunningSettings, secrets: SecretStore, clock: WallClock
    ) {
        (self.store, self.registry, self.settings, self.secrets) = (store, registry, settings, secrets)
        self.clock = clock
    }

    /// Returns the stored secrets and those that are named and missing; see `SecretState.all`.
    /// - Throws: `.unavailable` if the database or the directory of secrets cannot be read.
    package func list() async throws(OperationError) -> [SecretState] {
        let (settings, secrets, now) = (settings.current, secrets, clock.now())
        let bots = await registry.all()
        do {
            let recipes = try await store.recipesWithSecrets()
            return try await queue.run { () throws(SettingsError) in
                try SecretState.all(of: settings, bots, recipes: recipes, in: secrets, at: now)
            }
        } catch {
            throw OperationError(
                .unavailable, "the secrets cannot be listed; the daemon's log has the cause", underlying: error)
        }
    }

    /// Returns the end of the overlap that a bot's webhook secret has after a rotation; `nil` if none runs.
    package func webhookOverlap(of bot: BotSpecification) async -> Timestamp? {
        guard let name = bot.webhookSecret else { return nil }
        let (secrets, now) = (secrets, clock.now())
        return await queue.run { secrets.overlapEnd(of: name, at: now) }
    }
}
