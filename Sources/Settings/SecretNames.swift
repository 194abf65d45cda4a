import Model

/// Reads a list of secrets' names for the environment of a script or step.
enum SecretNames {
    /// An error for each name that is none, and for two that would be the same variable.
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
}
