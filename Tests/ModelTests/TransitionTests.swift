import Model
import TestSupport
import Testing

/// What happened, by this integration and what the branch stood at before.
@Suite struct TransitionTests {
    private static let good = BranchHealth(isGood: true, number: 4)
    private static let bad = BranchHealth(isGood: false, number: 4, brokenBy: .init(number: 3, run: 1))

    private static func reported(
        _ verdict: Verdict?, number: Int = 5, run: Int = 1, isTriggers: Bool = false
    ) -> Transition.NotifiedIntegration {
        .init(number: number, run: run, verdict: verdict, hasNewTriggerFailure: isTriggers)
    }

    private struct Case: CustomTestStringConvertible {
        var name: String
        var reported: Transition.NotifiedIntegration
        var before: BranchHealth?
        var news = 0
        var transitions: [Transition]
        var after: BranchHealth?

        var testDescription: String { name }
    }

    private static let broken = BranchHealth(isGood: false, number: 5, brokenBy: .init(number: 5, run: 1))

    private static let cases: [Case] = [
        Case(
            name: "good stays good", reported: reported(.warnings), before: good, transitions: [],
            after: .init(isGood: true, number: 5)),
        Case(
            name: "good, then failing tests", reported: reported(.testFailures), before: good, transitions: [.broke],
            after: broken),
        Case(
            name: "broke says the new issues", reported: reported(.buildErrors), before: good, news: 2,
            transitions: [.broke, .newIssue], after: broken),
        Case(name: "the first is bad", reported: reported(.buildErrors), transitions: [.broke], after: broken),
        Case(
            name: "the first is bad and all is new", reported: reported(.buildErrors), news: 3, transitions: [.broke],
            after: broken),
        Case(
            name: "the first is good", reported: reported(.succeeded), news: 3, transitions: [],
            after: .init(isGood: true, number: 5)),
        Case(
            name: "fixed", reported: reported(.succeeded), before: bad, transitions: [.fixed],
            after: .init(isGood: true, number: 5)),
        Case(
            name: "fixed, with an analyzer warning", reported: reported(.analyzerWarnings), before: bad, news: 1,
            transitions: [.fixed, .newIssue], after: .init(isGood: true, number: 5)),
        Case(
            name: "still failing is silent", reported: reported(.buildErrors), before: bad, transitions: [],
            after: .init(isGood: false, number: 5, brokenBy: .init(number: 3, run: 1))),
        Case(
            name: "still failing, and worse", reported: reported(.buildErrors), before: bad, news: 1,
            transitions: [.newIssue],
            after: .init(isGood: false, number: 5, brokenBy: .init(number: 3, run: 1))),
        Case(
            name: "canceled or superseded", reported: reported(.canceled), before: good, news: 1, transitions: [],
            after: nil),
        Case(
            name: "a trigger before its jobs failed", reported: reported(.canceled, isTriggers: true), before: bad,
            news: 1,
            transitions: [.newIssue], after: nil),
        Case(
            name: "it failed as before", reported: reported(.canceled, isTriggers: true), before: good, transitions: [],
            after: nil),
        Case(
            name: "it failed again in a rerun", reported: reported(.canceled, run: 2, isTriggers: true), before: good,
            news: 1,
            transitions: [], after: nil),
        Case(
            name: "a fault of ours", reported: reported(.internalError), before: good, news: 1, transitions: [],
            after: nil),
        Case(name: "no checkout", reported: reported(.checkoutError), before: bad, transitions: [], after: nil),
        Case(name: "runs still", reported: reported(nil), before: good, transitions: [], after: nil),
        // Reruns.
        Case(
            name: "a rerun mends it", reported: reported(.succeeded, number: 4, run: 2),
            before: .init(isGood: false, number: 4, brokenBy: .init(number: 4, run: 1)), transitions: [.fixed],
            after: .init(isGood: true, number: 4)),
        Case(
            name: "a rerun breaks it", reported: reported(.testFailures, number: 4, run: 2), before: good, news: 1,
            transitions: [.broke], after: .init(isGood: false, number: 4, brokenBy: .init(number: 4, run: 2))),
        Case(
            name: "a rerun finds the same", reported: reported(.testFailures, number: 4, run: 2), before: bad, news: 2,
            transitions: [], after: bad),
        Case(
            name: "a rerun of an older one", reported: reported(.testFailures, number: 3, run: 2), before: good,
            news: 2,
            transitions: [], after: nil),
        Case(
            name: "a rerun of what no checkout ended", reported: reported(.buildErrors, number: 5, run: 2), before: bad,
            news: 1,
            transitions: [.newIssue], after: .init(isGood: false, number: 5, brokenBy: .init(number: 3, run: 1))),
    ]

    @Test(
        .proves(
            .notices,
            "Broke, fixed and new issue are a function of the integration and the branch's health; still failing is silent; canceled ones and our faults are passed over"
        ), arguments: cases.indices)
    func testThatWhatHappenedFollowsFromBeforeAndNow(_ index: Int) {
        let sample = Self.cases[index]
        let found = Transition.all(of: sample.reported, after: sample.before, news: sample.news)
        #expect(found == sample.transitions, "\(sample.name)")
        #expect(BranchHealth.after(sample.reported, before: sample.before) == sample.after, "\(sample.name)")
    }

    @Test func testThatANoticeTellsOneOfThemTheFirstThatItAsksFor() throws {
        let name = try #require(Name("team"))
        func reported(_ when: [Transition], _ all: [Transition]) -> Transition? {
            Notice(name: name, when: when, target: .webhook(url: "https://h/", secret: "s")).transition(among: all)
        }
        #expect(reported(Transition.allCases, [.broke, .newIssue]) == .broke)
        #expect(reported([.newIssue], [.broke, .newIssue]) == .newIssue)
        #expect(reported([.fixed], [.broke, .newIssue]) == nil)
        #expect(reported(Transition.allCases, []) == nil)
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
    func testThatNewErrorsAreTold(_ status: Model.Issue.Status, _ category: Finding.Category, isNotified: Bool) {
        let finding = Finding(category: category, message: "x")
        #expect(
            Model.Issue(fingerprint: "f", status: status, finding: finding, age: 1, configurations: []).isNotified
                == isNotified
        )
    }
}
