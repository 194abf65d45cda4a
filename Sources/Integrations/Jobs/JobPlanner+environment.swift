import JobProtocol
import Model

extension JobPlanner {
    /// Separates the variables that identify an integration from the rest of a job's environment. This is done if the job has a default command of a
    /// Swift package: such steps run without these variables, and the other steps get them.
    ///
    /// SwiftPM caches what it has read of a package's manifests for one environment, including every variable. For another environment it compiles
    /// and runs them again. That takes 0.2 s for each command of each integration on the machine of decision 0011, a third of a small package's time.
    static func environments(
        _ all: [String: String], steps: [JobDescription.Step], configuration: Recipe.Configuration,
        projectType: ProjectType?
    ) -> (job: [String: String], steps: [JobDescription.Step]) {
        let readsManifests = steps.map {
            Self.readsManifests($0, configuration: configuration, projectType: projectType)
        }
        guard readsManifests.contains(true) else { return (all, steps) }
        let differing = all.filter { JobEnvironment.differing.contains($0.key) }
        let own = zip(steps, readsManifests).map { step, readsManifests in
            var step = step
            if !readsManifests { step.environment.merge(differing) { own, _ in own } }
            return step
        }
        return (all.filter { !JobEnvironment.differing.contains($0.key) }, own)
    }

    /// Whether a step is one of the default commands that run SwiftPM, not one that the recipe states. The products are built with all variables,
    /// because compilers write `SOURCE_DATE_EPOCH` in place of the time.
    private static func readsManifests(
        _ step: JobDescription.Step, configuration: Recipe.Configuration, projectType: ProjectType?
    ) -> Bool {
        guard projectType == .swiftPackage, configuration.steps == nil else { return false }
        switch (JobStep(rawValue: step.step), step.name) {
        case (.building, resolveStep), (.testing, listStep): return true
        case (.analyzing, _): return isClangStep(step)
        case (.building, _): return configuration.build == nil
        case (.testing, _): return configuration.test == nil
        default: return false
        }
    }
}
