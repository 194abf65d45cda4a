import Model

/// A reader of a list of names of secrets for the environment of a script or step.
enum SecretNames {
    /// Reads the names. Adds an error for each invalid name, and for two names with the same variable.
    static func read(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> [String] {
        guard let items = diagnostics.items(node, "secrets") else { return [] }
        var names: [String] = []
        for item in items {
            guard let name = diagnostics.secretName(item, "secrets") else { continue }
            let variable = SecretStore.variable(for: name)
            if let other = names.first(where: { SecretStore.variable(for: $0) == variable }) {
                diagnostics.error(
                    "the secrets `\(other)` and `\(name)` would both be the variable \(variable)", at: item.position)
            } else {
                names.append(name)
            }
        }
        return names
    }

    /// Returns an error for each two secrets of one job's analyses and steps that would have the same variable. All steps of a job share the values,
    /// so one step would get the other's secret.
    static func clashes(in recipe: Recipe) -> [String] {
        var clashes: [String] = []
        for configuration in recipe.configurations {
            var job = recipe
            job.configurations = [configuration]
            var first: [String: (step: String, secret: String)] = [:]
            for (step, secrets) in job.askedSecrets {
                for secret in secrets {
                    let variable = SecretStore.variable(for: secret)
                    guard let other = first[variable] else {
                        first[variable] = (step, secret)
                        continue
                    }
                    guard other.secret != secret else { continue }
                    let clash =
                        "\(other.step) asks for the secret `\(other.secret)` and \(step) for `\(secret)`: both would be the "
                        + "variable \(variable) of one job; rename one"
                    // Analyses belong to every configuration, so the same error would occur several times.
                    if !clashes.contains(clash) { clashes.append(clash) }
                }
            }
        }
        return clashes
    }
}
