extension Finding {
    /// The rules of findings that the service makes itself. They are stored, so a changed name makes each such issue a new one.
    package enum Rule {
        /// The prefix of the rule of a finding about a flaky test. The test's full name follows.
        package static let flaky = "flaky: "
        /// Tests failed without a failing test: a limit was reached, or the command failed.
        package static let failedTestCommand = "martlet.test"
        /// A configuration ran no test although its recipe does not state `test: none`.
        package static let nothingTested = "martlet.untested"
        /// Fewer tests ran than before, or tests that failed before did not run.
        package static let missingTests = "martlet.tests"
        /// A build step failed.
        package static let failedBuild = "martlet.build"
        /// The dependencies could not be resolved.
        package static let failedResolution = "martlet.resolve"
        /// An analysis failed, or did not finish.
        package static let failedAnalysis = "martlet.analysis"
        /// An analyzer's output was not understood.
        package static let notUnderstood = "martlet.analysis.output"
        /// A report, or a report file, could not be read.
        package static let lostReport = "martlet.report"
        /// A limit of the whole job was exceeded.
        package static let limit = "martlet.limit"
        /// A file is missing from an archive.
        package static let leftOut = "martlet.archive"
        /// The recipe cannot be read.
        package static let recipe = "martlet.recipe"
        /// A name in the recipe is nearly right.
        package static let nearlyRightName = "martlet.recipe.name"
        /// The job could not be prepared.
        package static let preparation = "martlet.preparation"

        /// The rules of findings about an analysis without a result.
        package static let withoutAnalysis = [failedAnalysis, lostReport, notUnderstood]

        /// Returns the rule of the finding that a trigger failed.
        package static func failedTrigger(_ trigger: Name) -> String { "martlet.trigger.\(trigger)" }
    }

    /// Returns the words for a step that builds: `the build`, `the step pack`.
    package static func words(forStep name: String) -> String { name == "build" ? "the build" : "the step \(name)" }

    /// Returns the beginning of the message for a failed build step that did not state a reason.
    package static func beginning(ofFailedStep name: String) -> String { words(forStep: name) + " failed: " }

    /// Whether the finding states that the step of that name failed, for any reason.
    package func isFailure(ofStep name: String) -> Bool {
        rule == Rule.failedBuild && message.hasPrefix(Self.beginning(ofFailedStep: name))
    }
}
