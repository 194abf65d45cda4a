import Basics
package import Logging
import Model
import Notifications
import ServiceLifecycle
package import Settings
package import Storage
import Synchronization
package import Transfer

/// Sends a trace of each run of an integration to a collector, by OTLP/HTTP, once it has ended.
///
/// No job waits for it. What a collector does not take is sent again after growing pauses; the queue is bounded, and is not stored.
package struct TraceExporter: Service, CustomStringConvertible {
    package let description = "traces"

    /// The most integrations that wait. The oldest go first.
    static let maximumWaiting = 1000
    /// The most integrations in one request.
    static let maximumBatch = 16
    /// The first and the longest pause after a failure (the specification asks for exponential pauses with jitter).
    static let firstPause = Duration.seconds(1)
    static let longestPause = Duration.seconds(60)
    /// How often one request is tried: for about twelve minutes.
    static let maximumTries = 16
    static let limits = TransferLimits(total: .seconds(30), stall: .seconds(30), response: 64 << 10)

    private let settings: TraceSettings
    private let store: Store
    private let secrets: SecretStore
    private let transport: any Transport
    private let timer: any Clock<Duration>
    private let clock: WallClock
    private let url: String
    private let version: String
    private let logger: Logger
    private let completions: AsyncStream<IntegrationID>
    private let waiting = Waiting()
    private let queue = SerialQueue(label: "trace-secrets")

    /// - Parameters:
    ///   - url: The service's URL.
    ///   - version: The service's version.
    package init(
        settings: TraceSettings, store: Store, secrets: SecretStore, transport: any Transport, clock: WallClock,
        timer: any Clock<Duration> = ContinuousClock(), url: String, version: String, logger: Logger
    ) {
        (self.settings, self.store, self.secrets, self.transport) = (settings, store, secrets, transport)
        (self.clock, self.timer, self.url, self.version, self.logger) = (clock, timer, url, version, logger)
        completions = store.completions()
    }

    /// The integrations that wait.
    private final class Waiting: Sendable {
        private let state = Mutex((ids: [IntegrationID](), lost: 0))
        let signal = Signal()

        func add(_ id: IntegrationID) {
            state.withLock { state in
                state.ids.append(id)
                if state.ids.count > TraceExporter.maximumWaiting {
                    state.ids.removeFirst()
                    state.lost += 1
                }
            }
            signal.notify()
        }

        /// Returns the next batch, and the number of integrations that went since the last call because too many waited.
        func next() -> (ids: [IntegrationID], lost: Int) {
            state.withLock { state in
                let batch = Array(state.ids.prefix(TraceExporter.maximumBatch))
                state.ids.removeFirst(batch.count)
                defer { state.lost = 0 }
                return (batch, state.lost)
            }
        }
    }

    /// Sends the trace of each integration that completes, until the service stops. Traces that could not be sent are dropped with a line in the log.
    package func run() async {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for await id in completions { waiting.add(id) } }
                group.addTask {
                    for await _ in waiting.signal.notifications {
                        while !Task.isCancelled, await sendNext() {}
                    }
                }
            }
        }
    }

    /// Sends a batch.
    /// - Returns: Whether there was one.
    private func sendNext() async -> Bool {
        let (ids, lost) = waiting.next()
        if lost > 0 { logger.warning("traces were dropped: too many waited", metadata: ["integrations": "\(lost)"]) }
        guard !ids.isEmpty else { return false }
        var traces: [IntegrationTrace] = []
        for id in ids {
            do {
                guard let record = try await store.integration(id) else { continue }
                traces += [IntegrationTrace(record, try await store.attempts(of: id), url: url)].compactMap(\.self)
            } catch {
                logger.warning("a trace could not be made", metadata: ["integration": "\(id)", "error": "\(error)"])
            }
        }
        if !traces.isEmpty { await send(OTLPTraces.body(traces, version: version), count: traces.count) }
        return true
    }

    /// What became of a try.
    private enum Outcome {
        case sent
        case refused(String)
        case failed(String, retryAfter: Duration?)
    }

    private func send(_ body: [UInt8], count: Int) async {
        var backoff = Backoff(first: Self.firstPause, limit: Self.longestPause)
        var reason = ""
        for _ in 0..<Self.maximumTries {
            switch await attempt(body) {
            case .sent: return
            case .refused(let why): return drop(count, why)
            case .failed(let why, let retryAfter):
                reason = why
                let pause = max(backoff.next(), min(retryAfter ?? .zero, Self.longestPause))
                // It fails only when the service stops.
                guard (try? await timer.sleep(for: pause)) != nil else { return }
            }
        }
        drop(count, reason)
    }

    private func drop(_ count: Int, _ reason: String) {
        logger.warning(
            "traces were not taken, and are not sent again; check `traces` of the settings and the collector's log",
            metadata: ["integrations": "\(count)", "error": "\(reason)"])
    }

    /// Sends a request once. The specification names the statuses after which it is sent again.
    private func attempt(_ body: [UInt8]) async -> Outcome {
        do {
            var request = TransferRequest(
                .post, settings.endpoint + "/v1/traces", headers: ["Content-Type": "application/json"],
                body: .bytes(body))
            if let name = settings.authorization {
                let secrets = secrets
                guard let secret = try await queue.run({ () throws(SettingsError) in try secrets.value(name) }) else {
                    return .failed(
                        "the secret \(name) is not set; set it with `martlet secret set \(name)`", retryAfter: nil)
                }
                request.headers["Authorization"] = secret
            }
            request.limits = Self.limits
            request.destination = .head
            request.isPlainHTTPAllowed = settings.endpoint.hasPrefix("http:")
            let answer = try await transport.perform(request)
            if answer.isSuccess { return .sent }
            let what = "POST \(settings.endpoint)/v1/traces answered \(answer.status)"
            guard [429, 502, 503, 504].contains(answer.status) else { return .refused(what) }
            return .failed(what, retryAfter: RetryAfter.duration(in: answer.headers, now: clock.now()))
        } catch {
            return .failed("\(error)", retryAfter: nil)
        }
    }
}
