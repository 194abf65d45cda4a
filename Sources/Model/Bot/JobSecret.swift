/// A secret that jobs of a bot may ask for, and the jobs that may do so.
///
/// Only the bot file can state this, never the recipe: a user who can push to a branch decides what its jobs run, and thereby sees the secret. A job
/// of a fork never gets a secret.
package struct JobSecret: Hashable, Sendable, Codable {
    /// The name of the secret, under which `martlet secret set` stores it.
    package var name: String
    /// The branches whose jobs may have it.
    package var branches: [RefPattern]
    /// The tags whose jobs may have it.
    package var tags: [RefPattern]
    /// The configurations whose jobs may have it; `nil` means every configuration.
    package var configurations: [Name]?
    /// The names of the steps and analyses that may have it; `nil` means every step that asks for it.
    package var steps: [Name]?

    package init(
        name: String, branches: [RefPattern] = [], tags: [RefPattern] = [], configurations: [Name]? = nil,
        steps: [Name]? = nil
    ) {
        self.name = name
        self.branches = branches
        self.tags = tags
        self.configurations = configurations
        self.steps = steps
    }

    /// Whether a step of a job may have the secret.
    package func isFor(_ ref: RefName, configuration: Name, step: Name?) -> Bool {
        if let steps, step.map(steps.contains) != true { return false }
        return isForSomeStep(ref, configuration: configuration)
    }

    /// Whether any step of a job may have the secret.
    package func isForSomeStep(_ ref: RefName, configuration: Name) -> Bool {
        if let configurations, !configurations.contains(configuration) { return false }
        if let branch = ref.branch { return branches.contains { $0.matches(branch) } }
        if let tag = ref.tag { return tags.contains { $0.matches(tag) } }
        return false
    }
}
