import Encodings
import Forges
import Hummingbird
import Model
import Storage

extension Pages {
    /// The number of integrations in a test's history on one page.
    private static let historyLength = 50

    /// Returns the page `/bots/{bot}/tests/history?name=`.
    func testHistory(_ call: AuthorizedRequest) async throws -> Response {
        let record = try await site.bot(of: call)
        let bot = record.name
        guard let test = call.query("name") else { throw Problem.notFound }
        let (limit, before) = try call.page(limit: Self.historyLength)
        let ref = call.ref("branch")
        guard
            let history = try await site.store.testHistory(of: test, bot: bot, ref: ref, limit: limit, before: before)
        else { throw Problem.notFound }
        let failures = try await site.store.lastFailures(of: test, bot: bot, ref: ref)
        let links = await site.links(of: record.repository, bot: bot)
        let path = Self.historyPath(history.fullName, of: bot)
        let branch = call.query("branch").map { "&branch=\(PercentEncoding.encode($0))" } ?? ""
        let integrations = Set(history.entries.map(\.integration)).count
        return try await page(
            "test", title: history.name, section: "bots",
            [
                "bot": .text(bot), "name": .text(history.name),
                "suite": .text(history.suite.isEmpty ? nil : history.suite),
                "span": .text(
                    "run in \(PageText.count(integrations, "integration"))"
                        + (history.entries.last.map { ", #\($0.integration.number) to " } ?? "")
                        + (history.entries.first.map { "#\($0.integration.number)" } ?? "")),
                "refs": .list(Self.refs(of: history, path: path, current: ref)),
                "hasRefs": .flag(ref != nil || Set(history.entries.map(\.ref)).count > 1),
                "configurations": .list(
                    history.configurations.map { configuration in
                        Self.configuration(
                            configuration, history.entries.filter { $0.configuration == configuration.name })
                    }),
                "failures": .list(failures.map { failure($0, links) }),
                "older": .text(history.next.map { "\(path)\(branch)&before=\($0)" }),
            ])
    }

    private static func refs(of history: TestHistory, path: String, current: RefName?) -> [ViewObject] {
        var seen: Set<RefName> = []
        let refs = (current.map { [$0] } ?? []) + history.entries.map(\.ref)
        let all: ViewObject = ["text": "All", "href": .text(path), "isCurrent": .flag(current == nil)]
        return [all]
            + refs.filter { seen.insert($0).inserted }.prefix(24).map { ref in
                [
                    "text": .text(ref.shortName), "isCurrent": .flag(ref == current),
                    "href": .text("\(path)&branch=\(PercentEncoding.encode(ref.branch ?? ref.description))"),
                ]
            }
    }

    private static func configuration(
        _ configuration: TestHistory.Configuration, _ entries: [TestHistory.Entry]
    ) -> ViewObject {
        let counts = TestResult.Outcome.allCases.compactMap { outcome in
            configuration.outcomes[outcome].map { "\($0) \(ResultView(outcome).word)" }
        }
        let streak = configuration.failing > 1 ? ["fails for \(configuration.failing) integrations"] : []
        return [
            "name": .text(configuration.name), "result": .list([ResultView(configuration.latest.outcome).view]),
            "says": .text((streak + counts).joined(separator: ", ")),
            "durations": .text(configuration.durations.map(words)), "points": .text(points(entries)),
            "strip": .list(
                entries.reversed().map { entry in
                    let result = ResultView(entry.outcome)
                    let took = entry.duration.map { ", " + PageText.duration($0) } ?? ""
                    return [
                        "tone": .text(result.tone.rawValue), "icon": .html(result.icon),
                        "href": .text("/bots/\(entry.integration.bot)/\(entry.integration.number)"),
                        "title": .text("#\(entry.integration.number) \(result.word)\(took)"),
                    ]
                }),
        ]
    }

    /// Returns a text such as `median 12 ms, p95 14 ms, +50 % lately`.
    static func words(_ figures: DurationFigures) -> String {
        let percent = figures.trend.map { Int(clamping: ($0 * 100).rounded()) } ?? 0
        let trend = percent.magnitude < 10 ? "" : ", \(PageText.change(percent) ?? "") % lately"
        return "median \(PageText.duration(figures.median)), p95 \(PageText.duration(figures.p95))\(trend)"
    }

    /// Returns the points of a line from the oldest entry on the left to the newest, scaled to the longest duration; `nil` for fewer than two
    /// durations.
    private static func points(_ newestFirst: [TestHistory.Entry]) -> String? {
        let durations = newestFirst.reversed().compactMap(\.duration)
        guard durations.count > 1, let longest = durations.max(), longest > .zero else { return nil }
        return durations.enumerated().map { index, duration in
            let y = 46 - Int(clamping: (duration / longest * 44).rounded())
            return "\(index * 400 / (durations.count - 1)),\(y)"
        }.joined(separator: " ")
    }

    private func failure(_ failure: TestFailure, _ links: ForgeLinks?) -> ViewObject {
        let result = failure.result
        return [
            "id": .text("#\(failure.integration.number)"),
            "href": .text("/bots/\(failure.integration.bot)/\(failure.integration.number)?attempt=\(failure.attempt)"),
            "result": .list([ResultView(result.outcome).view]), "configuration": .text(failure.configuration),
            "attempt": .text(failure.attempt), "ref": .text(failure.ref.shortName),
            "commit": .text(failure.commit.abbreviated), "commitHref": .text(commitHref(failure, links)),
            "placeHref": .text(
                failure.ref.pullRequest != nil
                    ? nil : result.path.flatMap { links?.file($0, line: result.line, at: failure.commit) }),
            "time": .text(failure.at),
            "when": .text(PageText.age(failure.at, now: site.clock())), "message": .text(result.message),
            "place": .text(result.path.map { path in result.line.map { "\(path):\($0)" } ?? path }),
        ]
    }

    /// Returns the page of a failure's commit. A forge does not have the merge that the service makes of a pull request, so its page is that of the
    /// request.
    private func commitHref(_ failure: TestFailure, _ links: ForgeLinks?) -> String? {
        failure.ref.pullRequest != nil ? links?.ref(failure.ref) : links?.commit(failure.commit)
    }
}
