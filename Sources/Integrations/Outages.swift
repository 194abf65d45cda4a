import Basics
package import Model

/// Circuit breaker for repositories' servers: records which servers do not answer and when each is asked again. One integration at a time asks,
/// after growing pauses, however many wait.
///
/// It knows only this daemon's tries; after a restart servers are asked at once.
package actor Outages {
    /// A server that did not answer.
    package struct Outage: Sendable, Hashable {
        /// Since it answered last.
        package var tries: Int
        /// When it is asked again.
        package var next: Timestamp
        /// What went wrong the last time.
        package var error: String

        /// For people.
        package var sentence: String { "\(error) (try \(tries), the next at \(next))" }
    }

    private enum State {
        case pausing, due, trying
    }
    private struct Entry {
        var outage: Outage
        var backoff: Backoff
        var state: State
        /// The number of the pause: the end of an older pause changes nothing.
        var number: Int
    }
    private struct Pause {
        var repository: String
        var number: Int
        var length: Duration
    }

    private var entries: [String: Entry] = [:]
    private var count = 0
    private let clock: WallClock
    private let timer: any Clock<Duration>
    private let wakeup: Wakeup
    private let pauses: AsyncStream<Pause>
    private let begun: AsyncStream<Pause>.Continuation

    /// The first pause is up to 2 s, each one twice the one before, up to 5 min, scattered.
    static let firstPause = Duration.seconds(2)
    static let longestPause = Duration.seconds(300)

    /// - Parameter wakeup: Rung when a server is to be asked again, or has answered.
    package init(clock: WallClock, timer: any Clock<Duration>, wakeup: Wakeup) {
        self.clock = clock
        self.timer = timer
        self.wakeup = wakeup
        // As many as there are repositories.
        (pauses, begun) = AsyncStream.makeStream(bufferingPolicy: .unbounded)
    }

    /// Waits out the pauses, until the task is cancelled.
    package func run() async {
        await withDiscardingTaskGroup { group in
            for await pause in pauses {
                group.addTask {
                    // Cancelled: the daemon stops.
                    do { try await self.timer.sleep(for: pause.length) } catch { return }
                    await self.end(pause)
                }
            }
            group.cancelAll()
        }
    }

    private func end(_ pause: Pause) {
        guard let entry = entries[pause.repository], entry.number == pause.number, entry.state == .pausing else {
            return
        }
        entries[pause.repository]?.state = .due
        wakeup.ring()
    }

    /// Whether asking now would be of use.
    package func mayAsk(_ repository: String) -> Bool {
        switch entries[repository]?.state {
        case nil, .due: true
        case .pausing, .trying: false
        }
    }

    /// Whether it did not answer the last time.
    package func isKnown(_ repository: String) -> Bool { entries[repository] != nil }

    /// Called before a server is asked. If it returns `nil`, the caller asks and reports the result by one of the functions below.
    /// - Returns: The outage during which the caller must not ask.
    package func begin(_ repository: String) -> Outage? {
        guard let entry = entries[repository] else { return nil }
        guard entry.state == .due else { return entry.outage }
        entries[repository]?.state = .trying
        return nil
    }

    /// It answered, whatever it said.
    package func answered(_ repository: String) {
        guard entries.removeValue(forKey: repository) != nil else { return }
        wakeup.ring()
    }

    /// The caller was stopped before there was an answer.
    package func stopped(_ repository: String) {
        guard entries[repository]?.state == .trying else { return }
        entries[repository]?.state = .due
        wakeup.ring()
    }

    /// The server did not answer: a pause begins.
    /// - Parameter retryAfter: The pause that the server asked for at least.
    package func failed(_ repository: String, _ error: String, retryAfter: Duration? = nil) -> Outage {
        var backoff = entries[repository]?.backoff ?? Backoff(first: Self.firstPause, limit: Self.longestPause)
        let pause = max(backoff.next(), retryAfter ?? .zero)
        let outage = Outage(
            tries: (entries[repository]?.outage.tries ?? 0) + 1, next: clock.now() + pause, error: error)
        count += 1
        entries[repository] = Entry(outage: outage, backoff: backoff, state: .pausing, number: count)
        begun.yield(Pause(repository: repository, number: count, length: pause))
        return outage
    }
}
