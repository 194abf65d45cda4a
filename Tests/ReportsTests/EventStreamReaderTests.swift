import Model
import TestSupport
import Testing

@testable import Reports

@Suite struct EventStreamReaderTests {
    private let root = Samples.root

    @Test(
        .proves(.reports, "Swift Testing's event stream"), .corpus,
        arguments: ["samples/swift-testing-events-v0.jsonl", "samples/swift-testing-events-6.3.jsonl"])
    func testThatItReadsBothVersionsAlike(file: String) throws {
        let content = ReportReader.read(try Corpus.file(file).bytes(), fileName: file, root: root)
        #expect(TestCounts(of: content.tests) == .init(7, failed: 3, skipped: 1, known: 1), "Test run with 7 tests")
        #expect(content.problems == [])
        let failed = try test("fails()", in: content.tests)
        #expect(failed.suite == "TinySwiftTestingTests.STests")
        #expect(failed.message == "Expectation failed: (add(1, 2) → 3) == 4\ncomment here")
        #expect(failed.path == "Tests/TinySwiftTestingTests/STests.swift")
        #expect(failed.line == 5)
        #expect(try test("skipped()", in: content.tests).message == "not now")
        #expect(try test("param(n:)", in: content.tests).outcome == .failed)
    }

    @Test(.proves(.reports, "Swift Testing's event stream"), arguments: ["events-0.jsonl", "events-6.3.jsonl"])
    func testThatNamesAndNumberAreThoseOfSwiftTestList(sample: String) throws {
        let content = EventStreamReader.read(try Samples.bytes(sample), root: root)
        #expect(TestCounts(of: content.tests) == .init(9, failed: 1, skipped: 2, known: 1))
        let listed = try Samples.lines("list.txt").compactMap { ListedTests.split($0) }
            .filter { $0.name.hasSuffix(")") }.map { $0.suite + "/" + $0.name }
        let read = content.tests.map { $0.fullName.replacing(" (2)", with: "") }
        #expect(read.sorted() == listed.sorted())
        #expect(content.tests.filter { $0.name.hasPrefix("p(_:)") }.map(\.outcome).contains(.failed))
        #expect(Set(content.tests.map(\.fullName)).count == 9)
    }

    @Test func testThatACancelledTestIsSkippedAndAKnownIssueFailsNothing() {
        // given: records of a version after 6.3, with an unknown kind
        let text = """
            {"kind":"test","version":"6.4","payload":{"kind":"function","id":"A.S/a()/S.swift:1:2","name":"a()","tags":[".slow"]}}
            {"kind":"test","version":"6.4","payload":{"kind":"function","id":"A.S/b()/S.swift:2:2","name":"b()"}}
            {"kind":"event","version":"6.4","payload":{"kind":"runStarted"}}
            {"kind":"event","version":"6.4","payload":{"kind":"testStarted","testID":"A.S/a()/S.swift:1:2"}}
            {"kind":"event","version":"6.4","payload":{"kind":"testCancelled","testID":"A.S/a()/S.swift:1:2"}}
            {"kind":"event","version":"6.4","payload":{"kind":"testStarted","testID":"A.S/b()/S.swift:2:2"}}
            {"kind":"event","version":"6.4","payload":{"kind":"issueRecorded","testID":"A.S/b()/S.swift:2:2","issue":{"isKnown":true,"isFailure":false},"messages":[{"text":"bug 12"}]}}
            {"kind":"event","version":"6.4","payload":{"kind":"brandNew","testID":"A.S/b()/S.swift:2:2"}}
            {"kind":"event","version":"6.4","payload":{"kind":"testEnded","testID":"A.S/b()/S.swift:2:2"}}
            {"kind":"event","version":"6.4","payload":{"kind":"runEnded"}}
            """
        let content = ReportReader.read(Array(text.utf8), fileName: "a", root: root)
        #expect(content.tests.map(\.outcome) == [.skipped, .knownIssue])
        #expect(content.problems == [])
    }

    @Test func testThatAWarningFailsNothing() throws {
        let content = EventStreamReader.read(try Samples.bytes("events-6.3.jsonl"), root: root)
        #expect(try test("warn()", in: content.tests).outcome == .passed)
        #expect(
            content.findings == [
                Finding(
                    category: .warning, message: "Issue recorded\nonly a warning", rule: "STests.Outer/warn()",
                    path: "Tests/STests/S.swift", line: 11)
            ])
    }

    @Test(.proves(.reports, "A started test without an end is a crash, with its signal"))
    func testThatStartedTestsWithoutAnEndHaveCrashed() throws {
        let content = EventStreamReader.read(try Samples.bytes("events-6.3-crash.jsonl"), root: root)
        #expect(TestCounts(of: content.tests) == .init(10, failed: 1, skipped: 7, crashed: 1))
        #expect(content.problems == ["the event stream ends before its test run does"])
    }

    @Test(
        .proves(
            .steps,
            "A listed test of a Swift package without a result did not run, and is red unless a crash explains it; a choice of tests leaves none out"
        ), arguments: [(false, ["one()", "two()"]), (true, ["one()"])])
    func testThatTestsThatACrashLeftDidNotRun(isWhole: Bool, names: [String]) {
        // given
        func test(_ name: String) -> String {
            #"{"kind":"test","version":0,"payload":{"kind":"function","id":"K.\#(name)/A.swift:1:1","name":"\#(name)"}}"#
        }
        func event(_ kind: String, _ more: String = "") -> String {
            #"{"kind":"event","version":0,"payload":{"kind":"\#(kind)"\#(more)}}"#
        }
        let one = #","testID":"K.one()/A.swift:1:1""#
        let lines = [
            test("one()"), test("two()"), event("runStarted"), event("testStarted", one), event("testEnded", one),
        ]
        let text = (lines + (isWhole ? [event("runEnded")] : [])).joined(separator: "\n")
        // when
        let content = EventStreamReader.read(Array(text.utf8), root: root)
        // then
        #expect(content.tests.map(\.name) == names)
        #expect(content.tests.dropFirst().map(\.message) == (isWhole ? [] : [CrashedProcess.neverBegun]))
        #expect(content.notes == (isWhole ? ["1 test was never started"] : []))
    }

    @Test func testThatARunWithoutTestsIsNoProblem() throws {
        let content = EventStreamReader.read(try Samples.bytes("events-6.3-empty.jsonl"), root: root)
        #expect(content == ReportContent())
    }

    @Test(arguments: [
        ("", "empty"), (#"{"kind":"test""#, "line 1"), (#"{"kind":"event","version":7,"payload":{}}"#, "version 7"),
        (#"{"kind":"event","version":"9.1","payload":{}}"#, "version 9.1"), ("[]", "not a record"),
        (#"{"kind":"test","version":0,"payload":{"kind":"function"}}"#, "without an id"),
    ])
    func testThatWhatCannotBeReadIsAProblem(text: String, reason: String) {
        let content = EventStreamReader.read(Array(text.utf8), root: root)
        #expect(content.problems.first?.contains(reason) == true, "\(content.problems)")
    }

    @Test func testThatAFailureOutsideOfAnyTestIsAFinding() {
        let line =
            #"{"kind":"event","version":0,"payload":{"kind":"issueRecorded","issue":{"isKnown":false},"#
            + #""messages":[{"text":"boom"}]}}"#
        let content = EventStreamReader.read(Array(line.utf8), root: root)
        #expect(content.findings == [Finding(category: .testFailure, message: "boom")])
    }

    @Test func testThatItSurvivesBeingCutAnywhere() throws {
        let bytes = try Samples.bytes("events-6.3.jsonl")
        for end in stride(from: 1, to: bytes.count - 1, by: 97) {
            let content = EventStreamReader.read(Array(bytes[..<end]), root: root)
            // Before the run starts, complete lines only list the tests.
            #expect(!content.problems.isEmpty || !content.notes.isEmpty || content.tests.isEmpty)
        }
    }
}
