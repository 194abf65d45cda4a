import Encodings
import Hummingbird
import Model
import Storage

extension Pages {
    /// The most tests on the page of an integration's tests.
    private static let treeTests = 1000
    /// The most tests in the tree on an integration's page; failing tests come first.
    private static let shortTreeTests = 300
    /// The longest text that tests are searched for, in bytes.
    private static let maximumQuery = 200

    /// Returns the page `/bots/{bot}/{number}/tests`.
    func testTree(_ call: AuthorizedRequest) async throws -> Response {
        let record = try await site.integration(of: call)
        let after = try call.number("after", 0...Int(Int32.max)) ?? 0
        let filter = TestTree.Filter(
            text: try Self.searched(call), isFailing: try call.flag("failing"), isSlowest: try call.flag("slowest"))
        let tree = try await site.store.testTree(
            of: record.id, attempt: call.attempt(), filter: filter, limit: Self.treeTests, after: after)
        let href = Self.href(record.id)
        var view: ViewObject = [
            "bot": .text(record.id.bot), "number": .text(record.id.number), "href": .text(href),
            "api": .text("/api/v1/bots/\(record.id.bot)/integrations/\(record.id.number)"),
            "result": .list([ResultView(record, attempts: []).view]), "ref": .text(record.ref.shortName),
            "subject": .text(Self.subject(record.subject)),
            "previous": .text(
                after > 0 ? Self.treeHref(record.id, filter, after: max(0, after - Self.treeTests)) : nil),
            "next": .text(tree.more > 0 ? Self.treeHref(record.id, filter, after: after + tree.shown) : nil),
            "range": .text(
                after > 0 || tree.more > 0
                    ? "\((after + min(1, tree.shown)).grouped) to \((after + tree.shown).grouped) of \(tree.found.grouped)"
                    : nil),
        ]
        show(tree, filter: filter, of: record, by: call.role, in: &view)
        if tree.tally.tests == 0 {
            view["noTests"] = .text(Self.whyNoTests(of: record, try await site.store.attempts(of: record.id)))
        }
        return try await page("tree", title: "Tests of \(record.id)", section: "bots", view)
    }

    /// Shows the first tests of an integration on its page.
    func showTests(
        of record: IntegrationRecord, _ attempts: [AttemptRecord], call: AuthorizedRequest, in view: inout ViewObject
    ) async throws {
        let filter = TestTree.Filter(isFailing: try call.flag("failing"))
        let tree = try await site.store.testTree(
            of: record.id, attempt: call.attempt(), filter: filter, limit: Self.shortTreeTests)
        show(tree, filter: filter, of: record, by: call.role, in: &view)
        let more = tree.found - tree.shown
        view["moreTests"] = .text(more > 0 ? more.grouped : nil)
        if tree.tally.tests == 0 { view["noTests"] = .text(Self.whyNoTests(of: record, attempts)) }
    }

    /// Returns why no test is listed.
    private static func whyNoTests(of record: IntegrationRecord, _ attempts: [AttemptRecord]) -> String {
        if record.summary == nil { return "No results yet: they are known when a configuration is done." }
        let ran = attempts.contains { $0.steps.contains { $0.step == .testing && $0.endedAt != nil } }
        return ran
            ? "Judged by exit status alone: no report tells of single tests. The recipe’s “report” names one."
            : "No test ran."
    }

    private func show(
        _ tree: TestTree, filter: TestTree.Filter, of record: IntegrationRecord, by role: Role?,
        in view: inout ViewObject
    ) {
        let hasBoxes = record.state.verdict != nil && role.map { $0 >= .operator } ?? false
        var flags: [ViewObject] = []
        func add(_ text: String, _ isCurrent: Bool, _ wanted: TestTree.Filter) {
            flags.append([
                "text": .text(text), "isCurrent": .flag(isCurrent),
                "href": .text(Self.treeHref(record.id, wanted, after: 0)),
            ])
        }
        add("All", !filter.isFailing && !filter.isSlowest, .init(text: filter.text))
        add("Failing", filter.isFailing, .init(text: filter.text, isFailing: true))
        add("Slowest", filter.isSlowest && !filter.isFailing, .init(text: filter.text, isSlowest: true))
        view["views"] = .list(flags)
        view["query"] = .text(filter.text)
        view["isFailing"] = .flag(filter.isFailing)
        view["isSlowest"] = .flag(filter.isSlowest)
        view["tally"] = .text(tree.tally.tests == 0 ? nil : tree.tally.sentence)
        view["hasTests"] = .flag(tree.tally.tests > 0)
        view["hasBoxes"] = .flag(hasBoxes)
        view["columns"] = .list(tree.configurations.map { ["text": .text($0)] })
        view["tree"] = .html(
            tree.suites.isEmpty ? "" : TestTreeHTML.html(tree, bot: record.id.bot, hasBoxes: hasBoxes))
        view["hasTree"] = .flag(!tree.suites.isEmpty)
        view["noTests"] = .text(tree.suites.isEmpty ? Self.nothingFound(filter) : nil)
    }

    private static func nothingFound(_ filter: TestTree.Filter) -> String {
        let which = filter.text.map { " whose name contains “\($0)”" } ?? ""
        return filter.isFailing ? "No test\(which) fails." : "There is no test\(which)."
    }

    /// Returns the text of `?query=`; `nil` if it is absent.
    /// - Throws: 400 for a text that is too long.
    static func searched(_ call: AuthorizedRequest) throws(Problem) -> String? {
        guard let text = call.query("query") else { return nil }
        guard text.utf8.count <= maximumQuery else {
            throw Problem(400, "`query` is a part of a test's name, of at most \(maximumQuery) bytes.")
        }
        return text
    }

    private static func treeHref(_ id: IntegrationID, _ filter: TestTree.Filter, after: Int) -> String {
        let parts = [
            filter.text.map { "query=\(PercentEncoding.encode($0))" }, filter.isFailing ? "failing" : nil,
            filter.isSlowest ? "slowest" : nil, after > 0 ? "after=\(after)" : nil,
        ].compactMap(\.self)
        return "\(href(id))/tests" + (parts.isEmpty ? "" : "?" + parts.joined(separator: "&"))
    }
}
