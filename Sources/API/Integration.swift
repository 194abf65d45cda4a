/// An integration as lists show it.
package struct Integration: Codable, Hashable, Sendable {
    /// The id, such as `kit#41`.
    package var id: String
    /// The URL of its page; `nil` for a run without a service.
    package var url: String?
    /// The bot's name.
    package var bot: String
    /// The number among the bot's integrations, counted from 1.
    package var number: Int
    /// The integrated commit. For a pull request it is the merge that the service made.
    package var commit: String
    /// The full name of the ref, such as `refs/heads/main`.
    package var ref: String
    /// The full name of the branch that the pull request wants to change; `nil` for a branch or a tag.
    package var base: String?
    /// The newest commit of the pull request; `nil` for a branch or a tag.
    package var head: String?
    /// The pull request; `nil` for a branch or a tag.
    package var pullRequest: PullRequest?
    /// Why it was queued, such as `push`, `person` or `schedule`.
    package var cause: String
    /// The user who requested it; `nil` if nobody did.
    package var requestedBy: String?
    /// The first line of the commit's message; `nil` until the commit is read.
    package var subject: String?
    /// The commit's author; `nil` until the commit is read.
    package var author: String?
    /// The recognized type of project and the file that it was recognized by; `nil` if it was not recognized, or not yet.
    package var project: String?
    /// `queued`, `running` or `completed`.
    package var state: String
    /// The current step. While jobs run, the answer with configurations has that of the least advanced job.
    package var step: String
    /// The verdict about the code, such as `succeeded` or `test-failures`; `nil` until it is completed.
    package var verdict: String?
    /// The result: the verdict, or `trigger-error`; `nil` until it is completed.
    package var result: String?
    /// Whether it was skipped: canceled before any part of it ran.
    package var skipped: Bool
    /// The reason for its state; `nil` if the state explains itself.
    package var reason: String?
    /// When it was queued.
    package var queued: Time
    /// When it was started; `nil` until then.
    package var started: Time?
    /// When it was completed; `nil` until then.
    package var ended: Time?
    /// How long it took from its start to its end, in seconds; `nil` until it is completed.
    package var duration: Double?
    /// The number of its current run, counted from 1. Each rerun adds one.
    package var run: Int
    /// The newer integration of the same ref that ended this one, such as `kit#42`; `nil` if none did.
    package var supersededBy: String?
    /// The counts of issues and tests; `nil` until they are complete.
    package var summary: Summary?

    /// The pull request of an integration.
    package struct PullRequest: Codable, Hashable, Sendable {
        /// The forge's number.
        package var number: Int
        /// Whether its head is a branch of the repository itself, not of a fork.
        package var trusted: Bool
        /// The branch of its head; `nil` for a fork.
        package var source: String?
        /// The newest commit of the base at the time of the merge.
        package var baseCommit: String
        /// The user who approved the head of a fork; `nil` if nobody did.
        package var approvedBy: String?
        /// Why the head itself was integrated instead of a merge; `nil` if the merge was.
        package var unmerged: String?

        /// Creates a value from all its properties.
        package init(
            number: Int, trusted: Bool, source: String?, baseCommit: String, approvedBy: String?, unmerged: String?
        ) {
            self.number = number
            self.trusted = trusted
            self.source = source
            self.baseCommit = baseCommit
            self.approvedBy = approvedBy
            self.unmerged = unmerged
        }
    }

    /// Creates a value from all its properties.
    package init(
        id: String, url: String?, bot: String, number: Int, commit: String, ref: String, base: String?, head: String?,
        pullRequest: PullRequest?,
        cause: String, requestedBy: String?, subject: String?, author: String?, project: String?, state: String,
        step: String, verdict: String?, result: String?, skipped: Bool, reason: String?, queued: Time, started: Time?,
        ended: Time?, duration: Double?, run: Int, supersededBy: String?, summary: Summary?
    ) {
        self.id = id
        self.url = url
        self.bot = bot
        self.number = number
        self.commit = commit
        self.ref = ref
        self.base = base
        self.head = head
        self.pullRequest = pullRequest
        self.cause = cause
        self.requestedBy = requestedBy
        self.subject = subject
        self.author = author
        self.project = project
        self.state = state
        self.step = step
        self.verdict = verdict
        self.result = result
        self.skipped = skipped
        self.reason = reason
        self.queued = queued
        self.started = started
        self.ended = ended
        self.duration = duration
        self.run = run
        self.supersededBy = supersededBy
        self.summary = summary
    }
}

/// The counts of an integration or of a job, each with its change from the branch's previous integration. Changes are 0 for a job, and if there is no
/// previous integration.
package struct Summary: Codable, Hashable, Sendable {
    /// The number of errors.
    package var errors: Int
    /// The number of warnings. Each flaky test is one of them.
    package var warnings: Int
    /// The number of warnings of analyzers.
    package var analyzerWarnings: Int
    /// The number of failed tests.
    package var testFailures: Int
    /// The number of tests that ran, including failed ones.
    package var tests: Int
    /// The number of tests that failed and passed on the same commit.
    package var flakyTests: Int
    /// The change of `errors`.
    package var errorsChange: Int
    /// The change of `warnings`.
    package var warningsChange: Int
    /// The change of `analyzerWarnings`.
    package var analyzerWarningsChange: Int
    /// The change of `testFailures`.
    package var testFailuresChange: Int
    /// The change of `tests`.
    package var testsChange: Int
    /// The change of `flakyTests`.
    package var flakyTestsChange: Int
    /// The tests, each counted once; `nil` for a job, and for an integration without tests.
    package var tally: Tally?

    /// The tests of an integration. Each counts once, however many configurations ran it.
    package struct Tally: Codable, Hashable, Sendable {
        /// The number of tests.
        package var tests: Int
        /// The number of configurations that ran tests.
        package var configurations: Int
        /// The number of tests that failed or crashed in a configuration.
        package var failing: Int
        /// The number of tests that were flaky in a configuration and failed in none.
        package var flaky: Int
        /// The number of tests that every configuration skipped.
        package var skipped: Int
        /// The count in words: `400 tests in 3 configurations, 4 fail, 1 skipped`.
        package var says: String

        /// Creates a value from all its properties.
        package init(tests: Int, configurations: Int, failing: Int, flaky: Int, skipped: Int, says: String) {
            self.tests = tests
            self.configurations = configurations
            self.failing = failing
            self.flaky = flaky
            self.skipped = skipped
            self.says = says
        }
    }

    /// Creates a value from all its properties.
    package init(
        errors: Int, warnings: Int, analyzerWarnings: Int, testFailures: Int, tests: Int, flakyTests: Int,
        errorsChange: Int, warningsChange: Int, analyzerWarningsChange: Int, testFailuresChange: Int, testsChange: Int,
        flakyTestsChange: Int, tally: Tally? = nil
    ) {
        self.errors = errors
        self.warnings = warnings
        self.analyzerWarnings = analyzerWarnings
        self.testFailures = testFailures
        self.tests = tests
        self.flakyTests = flakyTests
        self.errorsChange = errorsChange
        self.warningsChange = warningsChange
        self.analyzerWarningsChange = analyzerWarningsChange
        self.testFailuresChange = testFailuresChange
        self.testsChange = testsChange
        self.flakyTestsChange = flakyTestsChange
        self.tally = tally
    }
}
