import Model
import Testing

/// What happened, by this integration and what the branch stood at before.
@Suite struct TransitionTests {
    private static let good = Standing(isGood: true, number: 4)
    private static let bad = Standing(isGood: false, number: 4, brokenBy: .init(number: 3, run: 1))

    private static func told(
        _ verdict: Verdict?, number: Int = 5, run: Int = 1, isTriggers: Bool = false
    ) -> Transition.Told {
        .init(number: number, run: run, verdict: verdict, hasNewTriggerFailure: isTriggers)
    }

    private struct Case: CustomTestStringConvertible {
        var name: String
        var told: Transition.Told
        var before: Standing?
        var news = 0
        var transitions: [Transition]
        var after: Standing?

        var testDescription: String { name }
    }

    private static let broken = Standing(isGood: false, number: 5, brokenBy: .init(number: 5, run: 1))

    private static let cases: [Case] = [
        Case(
            name: "good stays good", told: told(.warnings), before: good, transitions: [],
            after: .init(isGood: true, number: 5)),
        Case(
            name: "good, then failing tests", told: told(.testFailures), before: good, transitions: [.broke],
            after: broken),
        Case(
            name: "broke says the new issues", told: told(.buildErrors), before: good, news: 2,
            transitions: [.broke, .newIssue], after: broken),
        Case(name: "the first is bad", told: told(.buildErrors), transitions: [.broke], after: broken),
        Case(
            name: "the first is bad and all is new", told: told(.buildErrors), news: 3, transitions: [.broke],
            after: broken),
        Case(
            name: "the first is good", told: told(.succeeded), news: 3, transitions: [],
            after: .init(isGood: true, number: 5)),
        Case(
            name: "fixed", told: told(.succeeded), before: bad, transitions: [.fixed],
            after: .init(isGood: true, number: 5)),
        Case(
            name: "fixed, with an analyzer warning", told: told(.analyzerWarnings), before: bad, news: 1,
            transitions: [.fixed, .newIssue], after: .init(isGood: true, number: 5)),
        Case(
            name: "still failing is silent", told: told(.buildErrors), before: bad, transitions: [],
            after: .init(isGood: false, number: 5, brokenBy: .init(number: 3, run: 1))),
        Case(
            name: "still failing, and worse", told: told(.buildErrors), before: bad, news: 1, transitions: [.newIssue],
            after: .init(isGood: false, number: 5, brokenBy: .init(number: 3, run: 1))),
        Case(name: "canceled or superseded", told: told(.canceled), before: good, news: 1, transitions: [], after: nil),
        Case(
            name: "a trigger before its jobs failed", told: told(.canceled, isTriggers: true), before: bad, news: 1,
            transitions: [.newIssue], after: nil),
        Case(
            name: "it failed as before", told: told(.canceled, isTriggers: true), before: good, transitions: [],
            after: nil),
        Case(
            name: "it failed again in a rerun", told: told(.canceled, run: 2, isTriggers: true), before: good, news: 1,
            transitions: [], after: nil),
        Case(name: "a fault of ours", told: told(.internalError), before: good, news: 1, transitions: [], after: nil),
        Case(name: "no checkout", told: told(.checkoutError), before: bad, transitions: [], after: nil),
        Case(name: "runs still", told: told(nil), before: good, transitions: [], after: nil),
        // Reruns.
        Case(
            name: "a rerun mends it", told: told(.succeeded, number: 4, run: 2),
            before: .init(isGood: false, number: 4, brokenBy: .init(number: 4, run: 1)), transitions: [.fixed],
            after: .init(isGood: true, number: 4)),
        Case(
            name: "a rerun breaks it", told: told(.testFailures, number: 4, run: 2), before: good, news: 1,
            transitions: [.broke], after: .init(isGood: false, number: 4, brokenBy: .init(number: 4, run: 2))),
        Case(
            name: "a rerun finds the same", told: told(.testFailures, number: 4, run: 2), before: bad, news: 2,
            transitions: [], after: bad),
        Case(
            name: "a rerun of an older one", told: told(.testFailures, number: 3, run: 2), before: good, news: 2,
            transitions: [], after: nil),
        Case(
            name: "a rerun of what no checkout ended", told: told(.buildErrors, number: 5, run: 2), before: bad,
            news: 1,
            transitions: [.newIssue], after: .init(isGood: false, number: 5, brokenBy: .init(number: 3, run: 1))),
    ]

    @Test(arguments: cases.indices)
    func testThatWhatHappenedFollowsFromBeforeAndNow(_ index: Int) {
        let sample = Self.cases[index]
        let found = Transition.all(of: sample.told, after: sample.before, news: sample.news)
        #expect(found == sample.transitions, "\(sample.name)")
        #expect(Standing.after(sample.told, before: sample.before) == sample.after, "\(sample.name)")
    }

    @Test func testThatANoticeTellsOneOfThemTheFirstThatItAsksFor() throws {
        let name = try #require(Name("team"))
        func told(_ when: [Transition], _ all: [Transition]) -> Transition? {
            Notice(name: name, when: when, target: .webhook(url: "https://h/", secret: "s")).told(of: all)
        }
        #expect(told(Transition.allCases, [.broke, .newIssue]) == .broke)
        #expect(told([.newIssue], [.broke, .newIssue]) == .newIssue)
        #expect(told([.fixed], [.broke, .newIssue]) == nil)
        #expect(told(Transition.allCases, []) == nil)
    }

    @Test func testThatANoticeIsOfBranchesAndTagsAlone() throws {
        let name = try #require(Name("team"))
        var notice = Notice(name: name, target: .webhook(url: "https://h/", secret: "s"))
        let main = RefName(branch: "main")
        let tag = RefName(tag: "1.0")
        let pull = RefName("refs/pull/7/head")
        #expect([main, tag, pull].map(notice.matches) == [true, true, false])
        notice.branches = [RefPattern("release/*")]
        #expect([main, tag, RefName(branch: "release/1")].map(notice.matches) == [false, false, true])
    }

    @Test(arguments: [
        (Model.Issue.Status.new, Finding.Category.error, true), (.new, .testFailure, true),
        (.new, .analyzerWarning, true),
        (.new, .triggerError, true), (.new, .warning, false), (.unresolved, .error, false), (.resolved, .error, false),
        (.silenced, .error, false),
    ])
    func testThatNewErrorsAreTold(_ status: Model.Issue.Status, _ category: Finding.Category, isTold: Bool) {
        let finding = Finding(category: category, message: "x")
        #expect(
            Model.Issue(fingerprint: "f", status: status, finding: finding, age: 1, configurations: []).isTold == isTold
        )
    }
}
