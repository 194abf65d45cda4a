/// An integration with its configurations. In JSON the members of `integration` are its own.
@dynamicMemberLookup package struct IntegrationDetail: Hashable, Sendable {
    /// The integration as lists show it.
    package var integration: Integration
    /// The further runs that users requested, the earliest first.
    package var reruns: [Rerun]
    /// The requested or newest attempt of each configuration.
    package var configurations: [Configuration]
    /// The pages of the repository's forge; `nil` if they are unknown.
    package var forge: ForgePages?

    /// Creates a value from all its properties.
    package init(
        integration: Integration, reruns: [Rerun], configurations: [Configuration], forge: ForgePages? = nil
    ) {
        self.integration = integration
        self.reruns = reruns
        self.configurations = configurations
        self.forge = forge
    }
}

extension IntegrationDetail: Codable {
    private enum CodingKeys: CodingKey { case reruns, configurations, forge }

    /// Reads the members of one JSON object.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        integration = try Integration(from: decoder)
        reruns = try container.decode([Rerun].self, forKey: .reruns)
        configurations = try container.decode([Configuration].self, forKey: .configurations)
        forge = try container.decodeIfPresent(ForgePages.self, forKey: .forge)
    }

    /// Writes the members of one JSON object.
    package func encode(to encoder: any Encoder) throws {
        try integration.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(reruns, forKey: .reruns)
        try container.encode(configurations, forKey: .configurations)
        try container.encode(forge, forKey: .forge)
    }

    /// Returns a property of the integration.
    package subscript<Value>(dynamicMember path: KeyPath<Integration, Value>) -> Value { integration[keyPath: path] }
}

/// The addresses of an integration's pages at the repository's forge.
package struct ForgePages: Codable, Hashable, Sendable {
    /// The page of the repository.
    package var repository: String
    /// The page of the commit. For a pull request it is its newest commit, not the merge.
    package var commit: String
    /// The page of the branch, tag or pull request; `nil` for any other ref.
    package var ref: String?
    /// The page of the changes since the branch's integration before, or of the pull request's changes; `nil` if there are none to compare.
    package var comparison: String?

    /// Creates a value from all its properties.
    package init(repository: String, commit: String, ref: String?, comparison: String?) {
        self.repository = repository
        self.commit = commit
        self.ref = ref
        self.comparison = comparison
    }
}

/// The answer to a rerun. In JSON the members of `detail` are its own.
@dynamicMemberLookup package struct QueuedRerun: Hashable, Sendable {
    /// The integration, which is queued once more.
    package var detail: IntegrationDetail
    /// Sentences about what does not run.
    package var notes: [String]

    /// Creates a value from all its properties.
    package init(detail: IntegrationDetail, notes: [String]) {
        self.detail = detail
        self.notes = notes
    }
}

extension QueuedRerun: Codable {
    private enum CodingKeys: CodingKey { case notes }

    /// Reads the members of one JSON object.
    package init(from decoder: any Decoder) throws {
        detail = try IntegrationDetail(from: decoder)
        notes = try decoder.container(keyedBy: CodingKeys.self).decode([String].self, forKey: .notes)
    }

    /// Writes the members of one JSON object.
    package func encode(to encoder: any Encoder) throws {
        try detail.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(notes, forKey: .notes)
    }

    /// Returns a property of the integration.
    package subscript<Value>(dynamicMember path: KeyPath<Integration, Value>) -> Value {
        detail.integration[keyPath: path]
    }
}

/// The output of `martlet run --json`: an integration with its issues and tests. In JSON the members of `detail` are its own.
package struct LocalRun: Hashable, Sendable {
    /// The integration of the working tree.
    package var detail: IntegrationDetail
    /// All its issues.
    package var issues: [Issue]
    /// All its tests.
    package var tests: [TestCase]

    /// Creates a value from all its properties.
    package init(detail: IntegrationDetail, issues: [Issue], tests: [TestCase]) {
        self.detail = detail
        self.issues = issues
        self.tests = tests
    }
}

extension LocalRun: Codable {
    private enum CodingKeys: CodingKey { case issues, tests }

    /// Reads the members of one JSON object.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        detail = try IntegrationDetail(from: decoder)
        issues = try container.decode([Issue].self, forKey: .issues)
        tests = try container.decode([TestCase].self, forKey: .tests)
    }

    /// Writes the members of one JSON object.
    package func encode(to encoder: any Encoder) throws {
        try detail.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(issues, forKey: .issues)
        try container.encode(tests, forKey: .tests)
    }
}

/// A further run of an integration that a user requested.
package struct Rerun: Codable, Hashable, Sendable {
    /// The number of the run, counted from 2.
    package var run: Int
    /// The user who requested it.
    package var requestedBy: String
    /// When it was requested.
    package var requested: Time
    /// Whether only the configurations that had failed run.
    package var failed: Bool
    /// The filter of the tests to run, in the test tool's syntax; `nil` for all tests.
    package var tests: String?
    /// Whether only the triggers after the jobs run.
    package var triggers: Bool

    /// Creates a value from all its properties.
    package init(run: Int, requestedBy: String, requested: Time, failed: Bool, tests: String?, triggers: Bool) {
        self.run = run
        self.requestedBy = requestedBy
        self.requested = requested
        self.failed = failed
        self.tests = tests
        self.triggers = triggers
    }
}

/// An attempt of a configuration of an integration.
package struct Configuration: Codable, Hashable, Sendable {
    /// The configuration's name.
    package var name: String
    /// The attempt's number, counted from 1.
    package var attempt: Int
    /// The integration's run that the attempt belongs to, counted from 1.
    package var run: Int
    /// The filter of the tests to run, in the test tool's syntax; `nil` for all tests.
    package var testFilter: String?
    /// The state of the newest attempt: `queued`, `running`, `ended` (its results are not read yet) or `processed`.
    package var state: String
    /// The current step; `nil` unless the attempt runs.
    package var step: String?
    /// The verdict about the code; `nil` until the attempt is completed.
    package var verdict: String?
    /// The reason for its state; `nil` if the state explains itself.
    package var reason: String?
    /// What analyzers found, such as `clean`, or why there was no analysis; `nil` until the attempt is processed.
    package var analysis: String?
    /// What was tested, or why there was no test; `nil` until the attempt is processed.
    package var tested: String?
    /// How the attempt was isolated from the machine: `sandbox` or `none`; `nil` until it is prepared.
    package var isolation: String?
    /// Why the attempt was not isolated; `nil` if it was, and until it is prepared.
    package var isolationReason: String?
    /// Further sentences, such as why a report is unreadable.
    package var notes: [String]
    /// When the attempt was queued.
    package var queued: Time
    /// When the attempt was started; `nil` until then.
    package var started: Time?
    /// When the attempt was completed; `nil` until then.
    package var ended: Time?
    /// How long the attempt took, in seconds; `nil` until it is completed.
    package var duration: Double?
    /// The URL of the page of its log; `nil` for a run without a service.
    package var url: String?
    /// The steps that were started, in their order.
    package var steps: [Step]
    /// The counts; `nil` until the attempt is processed.
    package var summary: Summary?
    /// All attempts of the configuration, including this one.
    package var attempts: [Attempt]

    /// A step as it ran.
    package struct Step: Codable, Hashable, Sendable {
        /// The kind of step, such as `building`.
        package var step: String
        /// The step's name.
        package var name: String
        /// When it was started.
        package var started: Time
        /// When it ended; `nil` until then, and if the supervisor was lost.
        package var ended: Time?
        /// How long it took, in seconds; `nil` if it has no end.
        package var duration: Double?
        /// The exit status; `nil` if the process did not exit by itself.
        package var exit: Int?
        /// The number of the signal that ended the process; `nil` if none did.
        package var signal: Int?
        /// The exceeded limit that ended the step: `time` or `log`; `nil` if none did.
        package var limit: String?

        /// Creates a value from all its properties.
        package init(
            step: String, name: String, started: Time, ended: Time?, duration: Double?, exit: Int?, signal: Int?,
            limit: String?
        ) {
            self.step = step
            self.name = name
            self.started = started
            self.ended = ended
            self.duration = duration
            self.exit = exit
            self.signal = signal
            self.limit = limit
        }
    }

    /// An attempt beside the shown one.
    package struct Attempt: Codable, Hashable, Sendable {
        /// The attempt's number, counted from 1.
        package var attempt: Int
        /// The integration's run that the attempt belongs to, counted from 1.
        package var run: Int
        /// `queued`, `running`, `ended` (its results are not read yet) or `processed`.
        package var state: String
        /// The verdict about the code; `nil` until the attempt is completed.
        package var verdict: String?
        /// The reason for its state; `nil` if the state explains itself.
        package var reason: String?
        /// The filter of the tests to run, in the test tool's syntax; `nil` for all tests.
        package var testFilter: String?
        /// What was tested, or why there was no test; `nil` until the attempt is processed.
        package var tested: String?
        /// When the attempt was started; `nil` until then.
        package var started: Time?
        /// When the attempt was completed; `nil` until then.
        package var ended: Time?
        /// How long the attempt took, in seconds; `nil` until it is completed.
        package var duration: Double?

        /// Creates a value from all its properties.
        package init(
            attempt: Int, run: Int, state: String, verdict: String?, reason: String?, testFilter: String?,
            tested: String?, started: Time?, ended: Time?, duration: Double?
        ) {
            self.attempt = attempt
            self.run = run
            self.state = state
            self.verdict = verdict
            self.reason = reason
            self.testFilter = testFilter
            self.tested = tested
            self.started = started
            self.ended = ended
            self.duration = duration
        }
    }

    /// Creates a value from all its properties.
    package init(
        name: String, attempt: Int, run: Int, testFilter: String?, state: String, step: String?, verdict: String?,
        reason: String?, analysis: String?, tested: String?, isolation: String?, isolationReason: String?,
        notes: [String], queued: Time, started: Time?, ended: Time?, duration: Double?, url: String?, steps: [Step],
        summary: Summary?,
        attempts: [Attempt]
    ) {
        self.name = name
        self.attempt = attempt
        self.run = run
        self.testFilter = testFilter
        self.state = state
        self.step = step
        self.verdict = verdict
        self.reason = reason
        self.analysis = analysis
        self.tested = tested
        self.isolation = isolation
        self.isolationReason = isolationReason
        self.notes = notes
        self.queued = queued
        self.started = started
        self.ended = ended
        self.duration = duration
        self.url = url
        self.steps = steps
        self.summary = summary
        self.attempts = attempts
    }
}

/// The body of a request for an integration.
package struct IntegrationRequest: Codable, Hashable, Sendable {
    /// A branch, a tag or a commit; `nil` for the newest commit of the default branch.
    package var commit: String?
    /// Whether the workspace is emptied first; `nil` means no.
    package var clean: Bool?

    /// Creates a value from all its properties.
    package init(commit: String?, clean: Bool?) {
        self.commit = commit
        self.clean = clean
    }
}

/// The body of a request to cancel an integration.
package struct CancelRequest: Codable, Hashable, Sendable {
    /// The time between SIGTERM and SIGKILL, in seconds; `nil` for 10 seconds.
    package var grace: Double?

    /// Creates a value from all its properties.
    package init(grace: Double?) {
        self.grace = grace
    }
}

/// The body of a request to run an integration again.
package struct RerunRequest: Codable, Hashable, Sendable {
    /// Whether only the configurations that failed run; `nil` means no.
    package var failed: Bool?
    /// The filter of the tests to run, in the test tool's syntax; `nil` for all tests.
    package var tests: String?
    /// The full names of the tests to run, instead of a filter; `nil` for all tests.
    package var names: [String]?
    /// Whether only the triggers after the jobs run; `nil` means no.
    package var triggers: Bool?

    /// Creates a value from all its properties.
    package init(failed: Bool?, tests: String?, names: [String]? = nil, triggers: Bool?) {
        self.failed = failed
        self.tests = tests
        self.names = names
        self.triggers = triggers
    }
}
