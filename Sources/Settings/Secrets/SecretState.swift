package import Model

/// A secret that is stored or named, without its value, and its uses.
package struct SecretState: Hashable, Sendable {
    /// Where the value is.
    package enum Place: String, Sendable, CaseIterable {
        /// In the settings' directory.
        case stored
        /// Among systemd's credentials.
        case credential
        /// Nowhere.
        case missing
    }

    package var name: String
    package var place: Place
    /// When its file was changed last; `nil` if it is missing.
    package var changedAt: Timestamp?
    /// The end of a rotation's overlap; `nil` if no overlap runs.
    package var overlapEnd: Timestamp?
    /// Why its value cannot be read; `nil` if it can be, and if it is missing.
    package var problem: String?
    /// Whether webhooks are signed with it.
    package var isOfWebhook: Bool
    /// The uses in words; see `SecretUse.places`.
    package var uses: [String]

    /// Returns the stored secrets in the order of their names, then those that are named and missing, in the order of their uses. It blocks.
    /// - Parameters:
    ///   - recipes: Recipes of repositories, each with its bot. Steps that ask for a secret which their bot file gives are uses of it.
    ///   - store: All secrets, also the service's own.
    package static func all(
        of settings: ServiceSettings, _ bots: [BotSpecification], recipes: [(bot: Name, recipe: Recipe)],
        in store: SecretStore, at now: Timestamp
    ) throws(SettingsError) -> [SecretState] {
        let uses = SecretUse.all(of: settings, bots)
        let steps = steps(bots, recipes)
        let hosts = SecretUse.ofHosts(bots)
        var states: [SecretState] = []
        for secret in try store.list(at: now) {
            var state = SecretState(
                name: secret.name, place: secret.isCredential ? .credential : .stored, changedAt: secret.changedAt,
                overlapEnd: secret.overlapEnd, problem: nil, isOfWebhook: false, uses: [])
            do throws(SettingsError) { _ = try store.value(secret.name) } catch { state.problem = error.message }
            for use in uses + hosts where use.name == secret.name {
                state.isOfWebhook = state.isOfWebhook || use.isOfWebhook
                state.uses += use.places
            }
            state.uses += steps[secret.name] ?? []
            states.append(state)
        }
        let stored = Set(states.map(\.name))
        for use in uses where !stored.contains(use.name) {
            states.append(
                SecretState(
                    name: use.name, place: .missing, changedAt: nil, overlapEnd: nil, problem: nil,
                    isOfWebhook: use.isOfWebhook, uses: use.places + (steps[use.name] ?? [])))
        }
        return states
    }

    /// Returns the steps that ask for each secret which their bot file gives to jobs.
    private static func steps(
        _ bots: [BotSpecification], _ recipes: [(bot: Name, recipe: Recipe)]
    ) -> [String: [String]] {
        var all = recipes
        for bot in bots {
            guard let source = bot.recipe,
                let recipe = RecipeReader.read(
                    yaml: source.yaml, file: "", project: .unknown, firstLine: source.firstLine
                ).value
            else { continue }
            all.append((bot.name, recipe))
        }
        let given = Dictionary(bots.map { ($0.name, Set(($0.jobSecrets ?? []).map(\.name))) }) { first, _ in first }
        var steps: [String: [String]] = [:]
        for (bot, recipe) in all {
            for (step, secrets) in recipe.askedSecrets {
                for secret in secrets where given[bot]?.contains(secret) == true {
                    let use = "\(step) of \(bot)"
                    if steps[secret]?.contains(use) != true { steps[secret, default: []].append(use) }
                }
            }
        }
        return steps
    }
}
