import Model
import TestSupport
import Testing

@testable import Reports

/// Reports that are made to stop their readers by a trap, by time or by memory.
@Suite struct ReportCostTests {
    struct Input: Sendable, CustomTestStringConvertible {
        var name: String
        /// A part of the first problem; `nil` if there is none.
        var problem: String?
        var bytes: @Sendable () -> [UInt8]
        var testDescription: String { name }

        init(_ name: String, problem: String? = nil, _ text: @escaping @Sendable () -> String) {
            self.init(name, problem: problem, bytes: { Array(text().utf8) })
        }

        init(_ name: String, problem: String? = nil, bytes: @escaping @Sendable () -> [UInt8]) {
            self.name = name
            self.problem = problem
            self.bytes = bytes
        }
    }

    private static func sarif(_ results: String) -> String {
        #"{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"results":[\#(results)]}]}"#
    }

    private static func times(_ count: Int, _ text: (Int) -> String) -> String {
        (0..<count).map(text).joined()
    }

    static let inputs = [
        Input("a block's number of 64 bits", problem: "which is too large here") {
            var writer = BitWriter()
            writer.block(1 << 63, width: 2)
            return writer.diagnostics
        },
        Input("a block's width of 64 bits", problem: "which is too large here") {
            var writer = BitWriter()
            writer.block(8, width: 1 << 63)
            return writer.diagnostics
        },
        Input("a record's code of 64 bits", problem: "which is too large here") {
            var writer = BitWriter()
            writer.block(8, width: 2)
            writer.fixed(3, 2)
            writer.variable(1 << 63, 6)
            writer.variable(0, 6)
            return writer.diagnostics
        },
        Input("an abbreviation of many literals", problem: "an abbreviation of 60000 encodings") {
            var writer = BitWriter()
            writer.block(8, width: 3)
            writer.fixed(2, 3)
            writer.variable(60_000, 5)
            for _ in 0..<60_000 {
                writer.fixed(1, 1)
                writer.variable(0, 8)
            }
            for _ in 0..<20_000 { writer.fixed(4, 3) }
            return writer.diagnostics
        },
        Input("arrays of numbers of no bits", problem: "more operands than it has bits") {
            // given an abbreviation of a literal and an array of numbers of no bits, and 10,000 records of 65,535 each
            var writer = BitWriter()
            writer.block(8, width: 3)
            writer.fixed(2, 3)
            writer.variable(3, 5)
            writer.fixed(1, 1)
            writer.variable(0, 8)
            for (encoding, value) in [(3, nil), (1, 0)] as [(UInt64, UInt64?)] {
                writer.fixed(0, 1)
                writer.fixed(encoding, 3)
                if let value { writer.variable(value, 5) }
            }
            for _ in 0..<10_000 {
                writer.fixed(4, 3)
                writer.variable(65_535, 6)
            }
            return writer.diagnostics
        },
        Input("a sanitizer's title of 63 KB") {
            "==1==ERROR: AddressSanitizer: x" + times(9000) { _ in " at 0x1" } + "\n    #0 0x1 in main /kit/a.c:3:1\n"
        },
        Input("SARIF, a message of open braces") {
            sarif(
                #"{"ruleId":"a","message":{"text":"\#(times(500_000) { _ in "{a" })","arguments":["x"]}}"#)
        },
        Input("SARIF, messages of open braces") {
            let message = times(7000) { _ in "{a" }
            return sarif(
                (0..<20).map { _ in #"{"ruleId":"a","message":{"text":"\#(message)","arguments":["x"]}}"# }
                    .joined(separator: ","))
        },
        Input("SARIF, a rule of 100,000 parts") {
            sarif(#"{"ruleId":"a\#(times(100_000) { _ in "/" })","message":{"text":"x"}}"#)
        },
        Input("SARIF, millions of nothings", problem: "JSON of more than 2000000 values") {
            sarif("{}" + times(2_000_000) { _ in ",{}" })
        },
        Input("an event stream of skipped suites") {
            times(4000) {
                #"{"version":0,"kind":"test","payload":{"id":"K.S\#($0)/a()","kind":"function","name":"a()"}}"# + "\n"
            } + #"{"version":0,"kind":"event","payload":{"kind":"runStarted"}}"# + "\n"
                + times(4000) {
                    #"{"version":0,"kind":"event","payload":{"kind":"testSkipped","testID":"K.X\#($0)"}}"# + "\n"
                } + #"{"version":0,"kind":"event","payload":{"kind":"runEnded"}}"#
        },
        Input("an element of 200,000 attributes", problem: "an element with more than 200 attributes") {
            "<testsuite name='s'><testcase name='a' " + times(200_000) { "a\($0)='1' " } + "/></testsuite>"
        },
        Input("tests of one name in many classes") {
            "Test Suite 'All tests' started at x\n"
                + times(20_000) { "[\($0)/20000] Testing K.C\($0)/testExample\n" }
        },
        Input("a package that fails again and again") {
            times(5000) { "=== RUN   T\($0)\n--- PASS: T\($0) (0.00s)\n" }
                + times(10_000) { _ in "FAIL\tkit/a\t0.1s\n" }
        },
        Input("overloads that all run at once") {
            "◇ Test run started.\n" + times(20_000) { _ in "◇ Test x() started.\n" }
                + times(20_000) { _ in "✔ Test x() passed after 0.001 seconds.\n" }
        },
    ]

    /// The limit of this thread's processor time, in seconds; other work on the machine does not change it. In a debug build the slowest needs half
    /// of a second. Before their limits these took 10 s and more, or ended the program.
    private static let limit = 3.0

    @Test(.proves(.reports, "No input stops a reader or costs more than linear time"), arguments: inputs)
    func testThatNoReportStopsItsReader(input: Input) {
        let bytes = input.bytes()
        let start = threadSeconds()
        let content = ReportReader.read(bytes, fileName: "a", root: SourceRoot(mountedAt: "/kit"))
        let time = threadSeconds() - start
        #expect(time < Self.limit * TestLimits.scale)
        if let problem = input.problem {
            #expect(content.problems.first?.contains(problem) == true, "\(content.problems)")
        } else {
            #expect(content.tests.count + content.findings.count + content.notes.count > 0)
        }
    }

    @Test func testThatMergingFailuresOfOverloadsTakesLinearTime() {
        let overloads = (0..<4000).flatMap { number in
            ["", " (2)"].map { TestResult(suite: "S", name: "t\(number)()\($0)", outcome: .passed) }
        }
        let failures = (0..<4000).map { TestResult(suite: "S", name: "t\($0)()", outcome: .failed) }
        let start = threadSeconds()
        let merged = TestMerge.merge([overloads, failures])
        #expect(threadSeconds() - start < Self.limit * TestLimits.scale)
        #expect(merged.count(where: \.outcome.isFailure) == 4000)
    }
}
