import GRDB
package import Model

/// A request for a scan of a repository. Take it just before scanning: later events get a higher sequence, so another scan remains due when this one
/// ends.
package struct ScanRequest: Hashable, Sendable {
    package var repository: String
    /// The number of the request, counted per repository.
    package var sequence: Int64
    /// Whether an event waits for the scan. Such scans are made before those that are only due by time.
    package var hasEvent: Bool

    package init(repository: String, sequence: Int64, hasEvent: Bool = false) {
        self.repository = repository
        self.sequence = sequence
        self.hasEvent = hasEvent
    }
}

/// The refs that a scan of a repository found, as `ScanApplication` applies them.
package struct RefScan: Sendable {
    package var request: ScanRequest
    /// All branches and tags; tags are peeled to their commits. At most `maximumHeads`.
    package var heads: [RefName: CommitID]
    /// The heads of requested pull requests that were found, keyed by their ref in the repository.
    package var others: [RefName: CommitID]
    /// The refs of all requested pull requests.
    package var asked: Set<RefName>
    /// The pull requests whose heads were searched for in their bases' tips, keyed by number.
    package var judged: [Int: JudgedPull]
    package var defaultBranch: RefName?
    package var at: Timestamp
    /// The cause of integrations of moved refs: `push` if an event requested the scan, otherwise `poll`.
    package var cause: Cause
    /// The bots that currently have this repository.
    package var watchers: [Watcher]
    /// A problem that keeps bots from integrating although the scan succeeded. It is shown as the scan's error.
    package var problem: String?

    /// The most refs of one repository; git's listing of that many refs has about 8 MB. More are refused with `tooLarge`.
    package static let maximumHeads = 100_000

    package init(
        request: ScanRequest, heads: [RefName: CommitID], others: [RefName: CommitID] = [:],
        asked: Set<RefName> = [], judged: [Int: JudgedPull] = [:], defaultBranch: RefName?, at: Timestamp, cause: Cause,
        watchers: [Watcher], problem: String? = nil
    ) {
        self.problem = problem
        self.others = others
        self.asked = asked
        self.judged = judged
        self.request = request
        self.heads = heads
        self.defaultBranch = defaultBranch
        self.at = at
        self.cause = cause
        self.watchers = watchers
    }
}

/// A bot's rules for refs and pull requests, as a scan applies them.
package struct Watcher: Sendable {
    package var bot: Name
    /// A canonical text of the bot's patterns, with the default branch if they depend on it. If it differs from the last scan's, refs that match only
    /// now are baselined.
    package var patterns: String
    /// Whether the bot integrates a ref.
    package var watches: @Sendable (RefName) -> Bool
    /// Whether commits of a ref may be published.
    package var isRelease: @Sendable (RefName) -> Bool
    /// The older integrations of a ref that a newer commit ends.
    package var supersede: @Sendable (RefName) -> BotSpecification.Supersede

    /// The bot's decision about a pull request.
    package var answer: @Sendable (SeenPullRequest) -> PullRequestAnswer

    package init(
        bot: Name, patterns: String, watches: @escaping @Sendable (RefName) -> Bool,
        isRelease: @escaping @Sendable (RefName) -> Bool,
        supersede: @escaping @Sendable (RefName) -> BotSpecification.Supersede,
        answer: @escaping @Sendable (SeenPullRequest) -> PullRequestAnswer = { _ in .refuses("it is not asked for") }
    ) {
        self.answer = answer
        self.bot = bot
        self.patterns = patterns
        self.watches = watches
        self.isRelease = isRelease
        self.supersede = supersede
    }
}

/// The result of applying a scan.
package struct ScanOutcome: Hashable, Sendable {
    /// The refs that moved since the previous scan, by name.
    package var refUpdates: [RefUpdateRecord]
    /// The queued integrations, ordered by number.
    package var integrations: [IntegrationID]
    /// Whether the repository must be scanned again, because another scan was requested after this one began.
    package var isRequestedAgain: Bool

    /// The running integrations of closed pull requests, which are to be canceled.
    package var closed: [ClosedIntegration]

    /// The events that announced a head the repository does not list yet, with the pauses before the next scans.
    package var awaited: [Awaited]

    /// An event whose outcome is not decided.
    package struct Awaited: Hashable, Sendable {
        /// The event's row in the ledger.
        package var delivery: Int64
        package var pause: Duration
    }

    /// An integration whose pull request was closed while it runs.
    package struct ClosedIntegration: Hashable, Sendable {
        package var id: IntegrationID
        /// The integration's run when the pull request was closed.
        package var run: Int
        /// The reason shown to users.
        package var reason: String
    }

    package init(
        refUpdates: [RefUpdateRecord], integrations: [IntegrationID], isRequestedAgain: Bool = false,
        closed: [ClosedIntegration] = [], awaited: [Awaited] = []
    ) {
        self.awaited = awaited
        self.isRequestedAgain = isRequestedAgain
        self.closed = closed
        self.refUpdates = refUpdates
        self.integrations = integrations
    }
}

extension Store {
    /// Runs transaction 2: compares a scan with the known heads. In one transaction it stores the new heads and generations, the ref updates, the
    /// integrations they cause, and the outcome of every event received before the scan began.
    ///
    /// Applying the same scan again changes no row. A repository's first scan with thousands of refs is the only transaction that may take longer
    /// than 5 ms, since it cannot be split.
    /// - Throws: `notFound` for a repository that no bot ever had; `tooLarge` above `RefScan.maximumHeads`.
    package func apply(_ scan: RefScan) async throws(StoreError) -> ScanOutcome {
        let operation = "store the scan of \(scan.request.repository)"
        guard scan.heads.count <= RefScan.maximumHeads else {
            throw StoreError(
                code: .tooLarge, operation: operation,
                message:
                    "it has \(scan.heads.count) branches and tags, more than \(RefScan.maximumHeads); delete old ones"
            )
        }
        return try await writer.write(operation) { transaction in
            var application = try ScanApplication(scan, transaction)
            return try application.run()
        }
    }

    /// Records that a scan failed. The request stays, so that the scan is tried again; events keep waiting.
    package func scanFailed(_ request: ScanRequest, reason: String, at time: Timestamp) async throws(StoreError) {
        try await writer.write("store the failed scan of \(request.repository)") { transaction in
            try transaction.db.change(
                "UPDATE repositories SET last_error = ?, failures = failures + 1 WHERE url = ?",
                [reason.kept, request.repository])
            guard transaction.db.changesCount > 0 else { throw Refusal.notFound("repository \(request.repository)") }
            transaction.changed(.repository(request.repository))
        }
    }
}
