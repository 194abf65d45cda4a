package import Basics
package import Model
package import Storage

/// Circuit breaker for repositories' servers: records which servers do not answer, and when to try each again. One integration at a time tries, after
/// growing pauses, however many wait.
///
/// It knows only the tries of this daemon. After a restart, servers are tried at once.
package actor CircuitBreaker {
    /// A server that did not answer.
    package struct Outage: Sendable, Hashable {
        /// The number of failed tries since the last answer.
        package var tries: Int
        /// The time of the next try.
        package var next: Timestamp
        /// The last error.
        package var error: String

        /// The outage as a text for users.
        package var sentence: String { "\(error) (try \(tries), the next at \(next))" }
    }

    private enum State {
        case pausing, due, trying
    }
    private struct Entry {
        var outage: Outage
        var backoff: Backoff
        var state: State
        /// The number of the current pause. The end of an older pause has no effect.
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
    private let signal: Signal
    private let pauses: AsyncStream<Pause>
    private let begun: AsyncStream<Pause>.Continuation

    /// The first pause is at most 2 s. Each further pause is twice as long, up to 5 min. Pauses are randomized.
    static let firstPause = Duration.seconds(2)
    static let longestPause = Duration.seconds(300)

    /// - Parameter signal: Notified when a server is to be tried again, or has answered.
    package init(clock: WallClock, timer: any Clock<Duration>, signal: Signal) {
        self.clock = clock
        self.timer = timer
        self.signal = signal
        // There are at most as many elements as repositories.
        (pauses, begun) = AsyncStream.makeStream(bufferingPolicy: .unbounded)
    }

    /// Waits for the ends of pauses, until the task is canceled.
    package func run() async {
        await withDiscardingTaskGroup { group in
            for await pause in pauses {
                group.addTask {
                    // The task is canceled: the daemon stops.
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
        signal.notify()
    }

    /// Whether the server may be tried now.
    package func permitsRequest(_ repository: String) -> Bool {
        switch entries[repository]?.state {
        case nil, .due: true
        case .pausing, .trying: false
        }
    }

    /// Whether the server failed to answer the last time.
    package func isKnown(_ repository: String) -> Bool { entries[repository] != nil }

    /// Called before a server is tried. If it returns `nil`, the caller tries and reports the result by one of the functions below.
    /// - Returns: The outage during which the caller must not try; `nil` if it may.
    package func begin(_ repository: String) -> Outage? {
        guard let entry = entries[repository] else { return nil }
        guard entry.state == .due else { return entry.outage }
        entries[repository]?.state = .trying
        return nil
    }

    /// Records that the server answered, whatever the answer was.
    package func answered(_ repository: String) {
        guard entries.removeValue(forKey: repository) != nil else { return }
        signal.notify()
    }

    /// Records that the caller was stopped before there was an answer.
    package func stopped(_ repository: String) {
        guard entries[repository]?.state == .trying else { return }
        entries[repository]?.state = .due
        signal.notify()
    }

    /// Records that the server did not answer, and starts a pause.
    /// - Parameter retryAfter: The least pause that the server asked for.
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
