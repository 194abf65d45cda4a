import Basics
package import Model
import Settings
import Storage

extension JobRunner {
    /// Returns the values of all secrets that a job's steps ask for, by the variable that carries each. They are passed over the launch socket alone.
    /// - Throws: `PreparationError.secretRefused` if the bot does not grant a secret to its step. Also if two secrets would be the same variable, so
    ///   that one step would get the other's secret. `SecretMissing` and `SettingsError` if a granted secret is not available, which is the machine's
    ///   fault.
    func secretValues(of request: Request, domain: Workspaces.TrustDomain) async throws -> [String: String] {
        var values: [String: String] = [:]
        let names = try grantedSecrets(
            to: request.configuration, of: request.recipe, bot: request.bot, writers: Self.writers(of: request),
            domain: domain)
        for secret in names {
            let value = try await self.queue.run { [secrets] in try secrets.value(secret) }
            guard let value else { throw SecretMissing(name: secret) }
            values[SecretStore.variable(for: secret)] = value
        }
        return values
    }

    /// Returns the names of the secrets that a job's steps ask for and get.
    /// - Parameter writers: The refs whose authors wrote the commit.
    /// - Throws: `secretRefused`.
    package func grantedSecrets(
        to configuration: Recipe.Configuration, of recipe: Recipe, bot: BotSpecification, writers: [RefName],
        domain: Workspaces.TrustDomain
    ) throws(PreparationError) -> [String] {
        var granted: [String] = []
        for (step, command, name) in Self.commands(of: configuration, recipe) {
            for secret in command.secrets {
                let place = name.map { "the step \($0)" } ?? "the \(step)"
                let reason =
                    secretless
                    ?? Self.refusal(
                        of: secret, to: name, configuration: configuration.name, bot: bot, writers: writers,
                        domain: domain)
                if let reason { throw .secretRefused(step: place, secret: secret, reason: reason) }
                let variable = SecretStore.variable(for: secret)
                if let other = granted.first(where: { SecretStore.variable(for: $0) == variable }), other != secret {
                    let reason = "\(other), which the job has too, is the same variable, \(variable)"
                    throw .secretRefused(step: place, secret: secret, reason: reason)
                }
                if !granted.contains(secret) { granted.append(secret) }
            }
        }
        return granted
    }

    /// Returns the `secrets` of the bot file that some step of the job may have.
    static func grants(of request: Request) -> [JobSecret] {
        let (refs, configuration) = (writers(of: request), request.configuration.name)
        return (request.bot.jobSecrets ?? []).filter { secret in
            refs.allSatisfy { secret.isForSomeStep($0, configuration: configuration) }
        }
    }

    /// Returns the refs whose authors wrote the commit. For a pull request these are the authors of both branches.
    private static func writers(of request: Request) -> [RefName] {
        let integration = request.integration
        return integration.pull.map { [$0.source ?? $0.base, $0.base] } ?? [integration.ref]
    }

    /// Returns the commands that the recipe states for this job, each with the step's name. An analysis without a name has `nil`.
    private static func commands(
        of configuration: Recipe.Configuration, _ recipe: Recipe
    ) -> [(step: String, command: Recipe.Command, name: Name?)] {
        var commands: [(step: String, command: Recipe.Command, name: Name?)] = []
        for (index, analysis) in (recipe.analyze ?? []).enumerated() {
            guard case .command(let command, let name) = analysis else { continue }
            commands.append(("analysis analyze-\(index + 1)", command, name))
        }
        for step in configuration.steps ?? [] {
            commands.append(("step \(step.name)", step.command, step.name))
        }
        return commands
    }

    /// Returns why a step does not get a secret; `nil` if it does.
    private static func refusal(
        of secret: String, to step: Name?, configuration: Name, bot: BotSpecification, writers: [RefName],
        domain: Workspaces.TrustDomain
    ) -> String? {
        guard domain.mayHaveSecrets else { return "a job of a fork has no secrets" }
        let given = (bot.jobSecrets ?? []).filter { $0.name == secret }
        guard !given.isEmpty else {
            return """
                the bot file gives it to no job; the bot's owner adds `secrets: [{ name: \(secret), branches: [main] }]`
                """
        }
        func isFor(_ secret: JobSecret) -> Bool {
            writers.allSatisfy { secret.isFor($0, configuration: configuration, step: step) }
        }
        if given.contains(where: isFor) { return nil }
        let wide = given.map { JobSecret(name: secret, branches: $0.branches, tags: $0.tags) }
        guard wide.contains(where: isFor) else {
            let refs = given.flatMap { $0.branches.map { "branch \($0)" } + $0.tags.map { "tag \($0)" } }
            let own = writers.map(\.description).joined(separator: " into ")
            return "the bot file gives it to jobs of \(refs.joined(separator: ", ")), and this is one of \(own)"
        }
        return """
            the bot file gives it to other steps or configurations, not to \(step?.description ?? "a step without a name") \
            of \(configuration)
            """
    }
}

/// The error if a secret that the bot file grants to a job is not set.
struct SecretMissing: Error, CustomStringConvertible {
    var name: String

    var description: String { "the secret \(name) is not set; set it with `martlet secret set \(name)`" }
}
