import Logging
import Model
import ServiceLifecycle
import Storage
import Synchronization

/// How long integrations waited and took since the start, by bot and result, for `/metrics`.
///
/// Figures begin with the start of the service: Prometheus recognizes a counter that begins again. Sums over the database would fall when retention
/// removes integrations.
final class WorkFigures: Service, CustomStringConvertible {
    let description = "figures of integrations"

    /// The most label sets of one metric. Those of further bots are counted under the bot `_other`, which cannot be a bot's name.
    static let maximumSets = 500
    static let others = "_other"

    /// The labels of one histogram.
    struct Labels: Hashable, Sendable, Comparable {
        let bot: String
        /// `nil` for an integration.
        var step: String?
        let result: String

        static func < (left: Labels, right: Labels) -> Bool {
            (left.bot, left.step ?? "", left.result) < (right.bot, right.step ?? "", right.result)
        }

        var pairs: [(name: String, value: String)] {
            [("bot", bot)] + (step.map { [("step", $0)] } ?? []) + [("result", result)]
        }
    }

    /// The histograms of one metric.
    struct Family: Sendable {
        private(set) var histograms: [Labels: Histogram] = [:]

        mutating func observe(_ seconds: Double, _ labels: Labels) {
            let isKnown = histograms[labels] != nil || histograms.count < WorkFigures.maximumSets
            let other = Labels(bot: WorkFigures.others, step: labels.step, result: labels.result)
            histograms[isKnown ? labels : other, default: Histogram()].observe(seconds)
        }

        /// The histograms in the order of their labels.
        var sorted: [(labels: [(name: String, value: String)], histogram: Histogram)] {
            histograms.sorted { $0.key < $1.key }.map { ($0.key.pairs, $0.value) }
        }
    }

    struct Figures: Sendable {
        var waiting = Family()
        var integrations = Family()
        var steps = Family()
    }

    private let state = Mutex(Figures())
    private let store: Store
    private let logger: Logger
    private let completions: AsyncStream<IntegrationID>

    init(store: Store, logger: Logger) {
        (self.store, self.logger) = (store, logger)
        completions = store.completions()
    }

    var figures: Figures { state.withLock { $0 } }

    func run() async {
        await cancelWhenGracefulShutdown { [self] in
            for await id in completions {
                do { try await record(id) } catch {
                    logger.warning(
                        "an integration is missing in the metrics, since it could not be read",
                        metadata: ["integration": "\(id)", "error": "\(error)"])
                }
            }
        }
    }

    private func record(_ id: IntegrationID) async throws {
        guard let record = try await store.integration(id), let result = record.state.result?.description,
            let started = record.startedAt, let ended = record.endedAt
        else { return }
        let attempts = try await store.attempts(of: id).filter { $0.run == record.run }
        let rerun = record.run > 1 ? try await store.reruns(of: id).last { $0.run == record.run } : nil
        let labels = Labels(bot: id.bot.description, result: result)
        state.withLock { state in
            state.waiting.observe((started - (rerun?.requestedAt ?? record.queuedAt)).seconds, labels)
            state.integrations.observe((ended - started).seconds, labels)
            for step in attempts.flatMap(\.steps) {
                guard let end = step.endedAt else { continue }
                let result = step.exit == 0 ? "succeeded" : "failed"
                state.steps.observe(
                    (end - step.startedAt).seconds,
                    Labels(bot: labels.bot, step: step.step.rawValue, result: result))
            }
        }
    }
}
