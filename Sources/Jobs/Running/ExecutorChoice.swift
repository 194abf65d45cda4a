package import Execution
package import Model

/// The executors of the settings, in the order in which they are tried, and the choice among them.
package struct ExecutorChoice: Sendable {
    /// An executor as a job may get it.
    package struct Candidate: Sendable {
        package var name: Name
        /// The directory of each node for workspaces; `nil` for the machine's own executor.
        package var work: String?
        /// The jobs that it runs at one time.
        package var slots: JobSlots
        /// Returns the kinds of machines that it has; `nil` if that is not known now.
        package var machines: @Sendable () async -> [MachineOffer]?

        package init(
            name: Name, work: String? = nil, slots: JobSlots,
            machines: @escaping @Sendable () async -> [MachineOffer]?
        ) {
            self.name = name
            self.work = work
            self.slots = slots
            self.machines = machines
        }

        /// Whether it is a cluster, whose jobs run on other machines.
        package var isCluster: Bool { work != nil }
    }

    /// The executors in the settings' order; never empty.
    package let candidates: [Candidate]
    /// The executor that is tried before the others.
    private let preferred: Name?

    package init(_ candidates: [Candidate], preferred: Name? = nil) {
        (self.candidates, self.preferred) = (candidates, preferred)
    }

    /// Returns the first executor that has what a configuration needs. An executor that does not answer counts as having it, so that its jobs wait.
    /// - Throws: `PreparationError` with a sentence for each executor that does not fit.
    package func choose(for configuration: Recipe.Configuration) async throws(PreparationError) -> Candidate {
        let needs = configuration.needs ?? JobNeeds()
        var tried = candidates
        if let name = needs.executor {
            tried = candidates.filter { $0.name == name }
            guard !tried.isEmpty else {
                throw .executorUnknown(name, configuration: configuration.name, known: candidates.map(\.name))
            }
        } else if let preferred {
            tried = candidates.filter { $0.name == preferred } + candidates.filter { $0.name != preferred }
        }
        var reasons: [String] = []
        for candidate in tried {
            // A job without needs fits everywhere.
            if needs == JobNeeds(executor: needs.executor, time: needs.time) { return candidate }
            guard let machines = await candidate.machines() else { return candidate }
            guard let reason = Self.refusal(of: needs, by: candidate, machines) else { return candidate }
            reasons.append(reason)
        }
        throw .noExecutorFits(configuration: configuration.name, reasons: reasons)
    }

    /// Returns why an executor cannot run a job, as the nearest of its machines shows; `nil` if it can.
    private static func refusal(
        of needs: JobNeeds, by candidate: Candidate, _ machines: [MachineOffer]
    ) -> String? {
        let missing = machines.map { $0.missing(of: needs) }
        if missing.contains([]) { return nil }
        guard let nearest = missing.min(by: { $0.count < $1.count }) else { return "\(candidate.name) has no machine" }
        let known = Set(machines.flatMap(\.features)).sorted()
        let lacksFeature = needs.features.contains { !known.contains($0) }
        let features =
            known.isEmpty ? "it has no features" : "its features are \(known.prefix(32).joined(separator: ", "))"
        return "\(candidate.name) has no machine with \(nearest.joined(separator: " and "))"
            + (lacksFeature ? "; \(features)" : "")
    }
}
