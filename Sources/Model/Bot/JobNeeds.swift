/// What a configuration needs of the machine that runs its jobs: `needs` of a recipe.
package struct JobNeeds: Hashable, Sendable, Codable {
    /// The number of processors; `nil` if any number is enough.
    package var cpus: Int?
    /// The memory of all processes together; `nil` if it is not stated.
    package var memory: ByteCount?
    /// The features that the machine must have all, such as `arm64`.
    package var features: [String]
    /// The name of the executor; `nil` for the first that fits.
    package var executor: Name?
    /// The time that the whole job may take; `nil` for the executor's own limit.
    package var time: Duration?

    package init(
        cpus: Int? = nil, memory: ByteCount? = nil, features: [String] = [], executor: Name? = nil,
        time: Duration? = nil
    ) {
        self.cpus = cpus
        self.memory = memory
        self.features = features
        self.executor = executor
        self.time = time
    }
}

/// A kind of machine that an executor has.
package struct MachineOffer: Hashable, Sendable {
    package var cpus: Int
    package var memory: ByteCount
    package var features: Set<String>

    package init(cpus: Int, memory: ByteCount, features: Set<String>) {
        self.cpus = cpus
        self.memory = memory
        self.features = features
    }

    /// Returns what the machine lacks, as words such as `the feature arm64`; empty if it has everything.
    package func missing(of needs: JobNeeds) -> [String] {
        var missing: [String] = []
        if let wanted = needs.cpus, wanted > cpus { missing.append("\(wanted) processors (it has \(cpus))") }
        if let wanted = needs.memory, wanted > memory { missing.append("\(wanted) of memory (it has \(memory))") }
        for feature in needs.features where !features.contains(feature) { missing.append("the feature \(feature)") }
        return missing
    }
}
