import Encodings
import Model
import Storage

/// Renders the tree of tests: a `details` for each suite with a table of its tests, and a column for each configuration.
///
/// It writes bytes instead of values of a template, because a page has 1,000 tests in several configurations. All text is escaped.
struct TestTreeHTML {
    let bot: Name
    let configurations: [Name]
    /// Whether each test has a box to tick. The boxes belong to the form around the tree.
    let hasBoxes: Bool
    private var bytes: [UInt8] = []

    init(bot: Name, configurations: [Name], hasBoxes: Bool) {
        (self.bot, self.configurations, self.hasBoxes) = (bot, configurations, hasBoxes)
    }

    /// Returns the HTML of a tree's suites.
    static func html(_ tree: TestTree, bot: Name, hasBoxes: Bool) -> String {
        var html = TestTreeHTML(bot: bot, configurations: tree.configurations, hasBoxes: hasBoxes)
        html.bytes.reserveCapacity(tree.shown * (300 + 60 * tree.configurations.count))
        html.symbols()
        // Suites with failures are open. So is a short tree.
        let isShort = tree.shown <= 12 || tree.suites.count == 1
        for suite in tree.suites { html.suite(suite, isOpen: isShort || suite.failing > 0) }
        return String(decoding: html.bytes, as: UTF8.self)
    }

    private mutating func raw(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    private mutating func text(_ text: String) { HTMLText.append(HTMLText.prepared(text).utf8, to: &bytes) }

    /// Writes the drawing of each outcome once, to which the tests refer.
    private mutating func symbols() {
        raw("<svg class=\"hidden\" aria-hidden=\"true\">")
        for outcome in TestResult.Outcome.allCases {
            let result = ResultView(outcome)
            raw("<symbol id=\"o-")
            text(outcome.rawValue)
            raw("\" viewBox=\"0 0 16 16\"><path d=\"")
            text(result.icon)
            raw("\"/></symbol>")
        }
        raw("</svg>\n")
    }

    private mutating func suite(_ suite: TestTree.Suite, isOpen: Bool) {
        raw("<details class=\"suite\"")
        if isOpen { raw(" open") }
        raw("><summary><span class=\"name\">")
        text(suite.name.isEmpty ? "Tests" : suite.name)
        raw("</span> <span class=\"quiet\">")
        let shown = suite.tests.count
        text(PageText.count(suite.total, "test") + (shown < suite.total ? ", \(shown.grouped) shown" : ""))
        raw("</span>")
        for (name, count) in zip(configurations, suite.counts) { cell(count, name) }
        raw("<span class=\"took\"></span></summary>\n<table class=\"tests\"><caption class=\"hidden\">Tests of ")
        text(suite.name.isEmpty ? "all suites" : suite.name)
        raw("</caption><colgroup><col>")
        for _ in configurations { raw("<col class=\"c\">") }
        raw("<col class=\"t\"></colgroup><thead class=\"hidden\"><tr><th scope=\"col\">Test</th>")
        for name in configurations {
            raw("<th scope=\"col\">")
            text(name.description)
            raw("</th>")
        }
        raw("<th scope=\"col\">Took</th></tr></thead>\n<tbody>")
        for test in suite.tests { row(test, isFlat: suite.name != test.suite) }
        raw("</tbody></table></details>\n")
    }

    /// Writes a suite's outcome in a configuration: a word and a sign.
    private mutating func cell(_ count: TestTree.Count, _ configuration: Name) {
        let (words, tone): (String, String) =
            count.tests == 0
            ? ("not run", "none")
            : count.failing > 0
                ? ("\(count.failing.grouped) \(count.failing == 1 ? "fails" : "fail")", "bad")
                : count.flaky > 0
                    ? ("\(count.flaky.grouped) flaky", "warn")
                    : count.skipped == count.tests
                        ? ("skipped", "none") : ("\((count.tests - count.skipped).grouped) passed", "good")
        raw("<span class=\"cell ")
        text(tone)
        raw("\"><span class=\"only\">")
        text(configuration.description)
        raw(" </span>")
        text(words)
        raw("</span>")
    }

    private mutating func row(_ test: TestTree.Test, isFlat: Bool) {
        raw("<tr><th scope=\"row\">")
        if hasBoxes {
            raw("<label><input type=\"checkbox\" name=\"test\" value=\"")
            text(test.fullName)
            raw("\"><span class=\"hidden\">Choose ")
            text(test.name)
            raw("</span></label> ")
        }
        raw("<a href=\"")
        text(Pages.historyPath(test.fullName, of: bot))
        raw("\">")
        text(test.name)
        raw("</a>")
        if isFlat, !test.suite.isEmpty {
            raw(" <span class=\"meta\">")
            text(test.suite)
            raw("</span>")
        }
        raw("</th>")
        for (name, outcome) in zip(configurations, test.outcomes) { cell(outcome, name) }
        raw("<td class=\"num\">")
        if let duration = test.duration { text(PageText.duration(duration)) }
        raw("</td></tr>\n")
    }

    private mutating func cell(_ outcome: TestResult.Outcome?, _ configuration: Name) {
        guard let outcome else {
            raw("<td class=\"quiet\"><span class=\"only\">")
            text(configuration.description)
            raw(" </span>not run</td>")
            return
        }
        let result = ResultView(outcome)
        raw("<td class=\"")
        text(result.tone.rawValue)
        raw("\"><svg width=\"12\" height=\"12\" aria-hidden=\"true\"><use href=\"#o-")
        text(outcome.rawValue)
        raw("\"/></svg> <span class=\"only\">")
        text(configuration.description)
        raw(" </span>")
        text(result.word)
        raw("</td>")
    }
}
