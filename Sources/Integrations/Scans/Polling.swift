import Model

/// Determines when each repository is to be scanned by time alone.
struct Polling {
    /// How often a repository is scanned if its bot does not state an interval (docs/guide/bot-file.md, "poll").
    static let usualInterval = Duration.seconds(60)
    /// How often a repository is scanned once an authentic webhook has arrived. Scans by time then only find what webhooks missed.
    static let relaxedInterval = Duration.seconds(600)
    /// The part by which an interval is randomly shortened or lengthened. Without it, a thousand repositories that were scanned at once at the
    /// daemon's start would always be scanned at once.
    static let scatter = 0.1

    private struct Entry {
        var polls: [BotSpecification.Poll]
        var last: Timestamp
        /// When the repository is due; `nil` if it is not scanned by time.
        var next: Timestamp?
    }

    private var entries: [String: Entry] = [:]
    private let jitter: @Sendable () -> Double
    /// The argument of the last call of `due`.
    private var polls: [String: [BotSpecification.Poll]] = [:]

    init(jitter: @escaping @Sendable () -> Double) { self.jitter = jitter }

    /// Returns the repositories that are to be scanned now: each at the start, when the settings of its bots change, and when its time has come.
    /// - Parameter hooked: Returns the repositories for which an authentic webhook has arrived. Called only if the result depends on it.
    mutating func due(
        of polls: [String: [BotSpecification.Poll]], at now: Timestamp, hooked: () async throws -> Set<String>
    ) async throws -> [String] {
        self.polls = polls
        if entries.count > polls.count { entries = entries.filter { polls[$0.key] != nil } }
        var due: [String] = []
        var knownHooked: Set<String>?
        for (repository, polls) in polls {
            guard let entry = entries[repository], entry.polls == polls else {
                due.append(repository)
                continue
            }
            // If the clock was set back, the elapsed time is unknown, so the repository is due.
            guard let next = entry.next, next <= now || now < entry.last else { continue }
            if polls.contains(.automatic), now >= entry.last {
                if knownHooked == nil { knownHooked = try await hooked() }
                if knownHooked?.contains(repository) == true,
                    let later = self.next(polls, after: entry.last, isHooked: true), later > now
                {
                    entries[repository]?.next = later
                    continue
                }
            }
            due.append(repository)
        }
        return due.sorted()
    }

    /// Records that scans of repositories were requested.
    mutating func record(_ repositories: [String], at now: Timestamp) {
        for repository in repositories {
            let polls = polls[repository] ?? []
            entries[repository] = Entry(
                polls: polls, last: now, next: next(polls, after: now, isHooked: false))
        }
    }

    private func next(_ polls: [BotSpecification.Poll], after last: Timestamp, isHooked: Bool) -> Timestamp? {
        let intervals = polls.compactMap { poll -> Duration? in
            switch poll {
            case .off: nil
            case .every(let interval): interval
            case .automatic: isHooked ? Self.relaxedInterval : Self.usualInterval
            }
        }
        return intervals.min().map { last + $0 * (1 - Self.scatter + 2 * Self.scatter * jitter()) }
    }
}
