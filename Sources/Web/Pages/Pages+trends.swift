import Encodings
import Hummingbird
import Model
import Storage

/// The state of a bot's branch through time: what the top of its page shows, and the same as CSV.
extension Pages {
    /// The most steps in the list of slow ones.
    private static let slowSteps = 5
    /// The number of results in the strip.
    private static let stripLength = 40

    /// Returns the state of a branch, its last results, plots, and slowest steps.
    /// - Parameters:
    ///   - ref: The branch or tag; `nil` if no branch stands for the bot: then all its branches and tags.
    ///   - named: The branch that the request names; `nil` if it names none.
    func health(of bot: BotRecord, ref: RefName?, named: RefName?) async throws -> ViewObject {
        let name = bot.name
        let trend = try await site.store.trend(of: name, ref: ref)
        guard let last = trend.last else { return ["hasHealth": false] }
        let steps = try await site.store.slowestSteps(of: name, ref: ref, limit: Self.slowSteps)
        let record = try await site.store.integration(IntegrationID(bot: name, number: last.number))
        let query = ref.map { "?branch=\(PercentEncoding.encode($0.branch ?? $0.description))" } ?? ""
        let plots = Plot.all(of: trend)
        return [
            "hasHealth": true, "branch": .text(ref?.shortName ?? "all branches"),
            "isNamed": .flag(named != nil),
            "result": .list([ResultView(last.result).view]), "number": .text(last.number),
            "lastHref": .text("/bots/\(name)/\(last.number)"), "subject": .text(Self.subject(record?.subject)),
            "streak": .text(Self.streak(trend)), "ended": .text(last.endedAt ?? last.queuedAt),
            "when": .text(PageText.age(last.endedAt ?? last.queuedAt, now: site.clock())),
            "strip": .list(trend.suffix(Self.stripLength).map { Self.stripItem($0, of: name) }),
            "stripCount": .text(min(trend.count, Self.stripLength)),
            "passRate": .text(Self.passRate(trend)), "median": .text(Self.median(trend)),
            "steps": .list(steps.map(Self.row)), "hasSteps": .flag(!steps.isEmpty),
            "plots": .list(
                plots.map { plot in
                    ["title": .text(plot.title), "latest": .text(plot.latest), "drawing": .html(plot.html)]
                }), "hasPlots": .flag(!plots.isEmpty),
            "trendCount": .text(trend.count), "csv": .text("/bots/\(name)/trend.csv\(query)"),
        ]
    }

    private static func isGood(_ point: TrendPoint) -> Bool {
        if case .verdict(let verdict) = point.result { verdict.isPublishable } else { false }
    }

    /// Returns how long the branch has been as it is: `good since #12, 8 integrations`; `nil` for a single one.
    private static func streak(_ trend: [TrendPoint]) -> String? {
        guard let last = trend.last else { return nil }
        let same = trend.reversed().prefix { isGood($0) == isGood(last) }
        guard same.count > 1, let first = same.last else { return nil }
        let word = isGood(last) ? "passes" : "fails"
        return "\(word) since #\(first.number), in \(PageText.number(same.count)) integrations"
    }

    private static func passRate(_ trend: [TrendPoint]) -> String {
        let good = trend.count(where: isGood)
        return "\(Plot.percent(Double(good) * 100 / Double(max(1, trend.count)))) of the last \(trend.count)"
    }

    private static func median(_ trend: [TrendPoint]) -> String? {
        trend.compactMap(\.duration).median.map(PageText.duration)
    }

    private static func stripItem(_ point: TrendPoint, of bot: Name) -> ViewObject {
        let view = ResultView(point.result)
        let took = point.duration.map { ", " + PageText.duration($0) } ?? ""
        return [
            "tone": .text(view.tone.rawValue), "icon": .html(view.icon), "href": .text("/bots/\(bot)/\(point.number)"),
            "title": .text("#\(point.number) \(view.word)\(took)"),
        ]
    }

    private static func row(_ step: UsualStep) -> ViewObject {
        [
            "configuration": .text(step.configuration), "step": .text(step.step.rawValue), "name": .text(step.name),
            "median": .text(PageText.duration(step.median)), "runs": .text(step.runs),
        ]
    }

    /// Answers `/bots/{bot}/trend.csv` (RFC 4180). Every field is a number, a moment, a commit's id or a word of ours, so none is a formula.
    func trendTable(_ call: AuthorizedRequest) async throws -> Response {
        let bot = try await site.bot(of: call).name
        let trend = try await site.store.trend(of: bot, ref: try await site.branch(call, of: bot))
        var lines = [
            "number,commit,result,queued,started,ended,duration_seconds,waited_seconds,tests,test_failures,errors,warnings,"
                + "analyzer_warnings,coverage_percent"
        ]
        for point in trend {
            let (summary, counts) = (point.summary, point.summary?.counts)
            let fields: [String?] = [
                String(point.number), point.commit.description, point.result.description, point.queuedAt.description,
                point.startedAt?.description, point.endedAt?.description, point.duration.map { Self.seconds($0) },
                point.waited.map { Self.seconds($0) }, (summary?.testCount).map(String.init),
                (summary?.failingTestCount).map(String.init), (counts?.errors).map(String.init),
                (counts?.warnings).map(String.init), (counts?.analyzerWarnings).map(String.init),
                point.coverage.map { String(($0 * 100).rounded() / 100) },
            ]
            lines.append(fields.map { $0 ?? "" }.joined(separator: ","))
        }
        return .body(
            Array((lines.joined(separator: "\r\n") + "\r\n").utf8), type: "text/csv; charset=utf-8; header=present")
    }

    /// Returns seconds with three digits after the point: `12.345`.
    private static func seconds(_ duration: Duration) -> String {
        String(Double(duration.milliseconds) / 1000)
    }
}
