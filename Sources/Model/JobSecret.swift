/// A secret that jobs of a bot may ask for, and which of them.
///
/// The bot file says so, never the recipe: who may push to a branch decides what its jobs run, and with that who sees the
/// secret. A job of a fork gets none, whatever stands here.
package struct JobSecret: Hashable, Sendable, Codable {
    /// The secret's name, as `martlet secret set` stores it.
    package var name: String
    /// Branches whose jobs may have it.
    package var branches: [RefPattern]
    /// Tags whose jobs may have it.
    package var tags: [RefPattern]
    /// Nothing: every configuration.
    package var configurations: [Name]?
    /// By the name of a step or of an analysis. Nothing: every one that asks.
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

    /// Whether a step of a job may have it.
    package func isFor(_ ref: RefName, configuration: Name, step: Name?) -> Bool {
        if let steps, step.map(steps.contains) != true { return false }
        return isForSomeStep(ref, configuration: configuration)
    }

    /// Whether some step of a job may have it.
    package func isForSomeStep(_ ref: RefName, configuration: Name) -> Bool {
        if let configurations, !configurations.contains(configuration) { return false }
        if let branch = ref.branch { return branches.contains { $0.matches(branch) } }
        if let tag = ref.tag { return tags.contains { $0.matches(tag) } }
        return false
    }
}
