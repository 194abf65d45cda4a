import Model

/// When each repository is to be asked by time alone.
struct Polling {
    /// How often a repository is asked when its bot says nothing (docs/manual.md, "poll").
    static let usualInterval = Duration.seconds(60)
    /// The same once an authentic webhook has arrived: polling then only repairs what webhooks lose.
    static let relaxedInterval = Duration.seconds(600)
    /// An interval is up to this part of it shorter or longer, so that a thousand repositories that were asked at once when the daemon
    /// started are not asked at once for ever.
    static let scatter = 0.1

    private struct Entry {
        var polls: [BotSpecification.Poll]
        var last: Timestamp
        /// Nothing: by no clock.
        var next: Timestamp?
    }

    private var entries: [String: Entry] = [:]
    private let jitter: @Sendable () -> Double
    /// What `due` was told last.
    private var polls: [String: [BotSpecification.Poll]] = [:]

    init(jitter: @escaping @Sendable () -> Double) { self.jitter = jitter }

    /// The repositories that are to be asked now: each at the start, when its bots' wishes changed, and when its time has come.
    /// - Parameter hooked: Those of which an authentic webhook has arrived; asked only where that decides.
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
            // A clock that was set back says nothing of how long ago that was.
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

    /// Notes that repositories were asked.
    mutating func note(_ repositories: [String], at now: Timestamp) {
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
