import BotSupport
import Execution
import Glibc
import JobProtocol
import Model
import Reports
import Storage
import TestSupport
import Testing

@testable import Integrations
@testable import Jobs

/// `martlet-reader` reads a job's files, in a separate process.
@Suite struct StepReadingTests {
    private let processor = AttemptProcessorTests()
    private typealias Played = AttemptProcessorTests.Played

    /// Input that crashed an XML parser, and similar input.
    private static let hostile = [
        "<testsuite name=\"a\"<?x?>></testsuite>", "<testsuite><?x?><testcase name='a'/></testsuite>",
        "<testsuite><testcase name='a'><failure>handles <?php?> tags</failure></testcase></testsuite>",
        "<testsuite><testcase name=\"handles <?php?> tags\"/></testsuite>", "<?x?>", "<testsuite <?x", "<?",
        "<testsuite><![CDATA[<?x?>]]><!-- <?x?> --></testsuite>", "<testsuite><?x?></testsuite><?x?>", "<!DOCTYPE a>",
    ]

    @Test(
        .proves(
            .reports,
            "A report that crashes its reader, or takes too much memory or time, is unreadable with the reason; the daemon continues and reads the other files"
        ), .threat("P1"), arguments: hostile)
    func testP1ThatWhatEndedAParserIsReadOrRefused(report: String) async throws {
        // given, when
        let results = try await processor.results(of: [Played(step: .testing, report: report)])

        // then: the daemon continues, with the report's contents or the reason why there are none
        #expect([.succeeded, .warnings, .testFailures].contains(results.verdict))
        #expect(results.verdict == .succeeded || results.reason?.isEmpty == false)
    }

    @Test func testThatNoReaderIsStartedWhereNothingWasLeft() async throws {
        // given, when
        let results = try await processor.results(
            of: [Played(step: .building), Played(step: .testing)], reader: ReaderProgram(path: "/nonexistent"))

        // then
        #expect(results.verdict == .succeeded)
    }

    @Test func testThatAReaderThatIsNotThereIsOurFault() async throws {
        // given, when, then
        await #expect(throws: ExecutionError.self) {
            _ = try await processor.results(
                of: [Played(step: .testing, output: "ok\n")], reader: ReaderProgram(path: "/nonexistent"))
        }
    }

    // MARK: Limits

    @Test(
        .proves(
            .reports,
            "A report that crashes its reader, or takes too much memory or time, is unreadable with the reason; the daemon continues and reads the other files"
        ), .threat("P1"))
    func testP1ThatAReportThatTakesTooMuchMemoryIsUnreadableAndTheOthersAreRead() async throws {
        // given: a report of 40 MB, of which the reader makes a copy, and 96 MiB for both and the program
        var reader = try ReaderProgram.built()
        reader.limits.memory = 96 << 20
        let large = "<testsuite><testcase name='" + String(repeating: "a", count: 40_000_000) + "'/></testsuite>"

        // when
        let results = try await processor.results(
            of: [
                Played(step: .building, report: large, reportName: "large.xml"),
                Played(step: .testing, report: AttemptProcessorTests.passing),
            ], reader: reader)

        // then
        #expect(results.verdict == .warnings)
        #expect(
            results.findings.map(\.finding.message) == [
                "build: report unreadable: large.xml: reading it took more than 96 MiB of memory"
            ])
        #expect(results.counts.tests == 2)
    }

    @Test(
        .proves(
            .reports,
            "A report that crashes its reader, or takes too much memory or time, is unreadable with the reason; the daemon continues and reads the other files"
        ), .threat("P1"))
    func testP1ThatAReportThatTakesTooMuchProcessorTimeIsUnreadable() async throws {
        // given
        var reader = try ReaderProgram.built()
        reader.limits.processor = .seconds(1)
        let cases = String(repeating: "<testcase name='a'><failure>b &amp; c</failure></testcase>\n", count: 190_000)

        // when
        let results = try await processor.results(
            of: [Played(step: .testing, report: "<testsuite>" + cases + cases + "</testsuite>")], reader: reader)

        // then
        #expect(results.verdict == .testFailures)
        expectContains(results.reason ?? "", "reading it took more than 1 s of processor time")
    }

    // MARK: A reader that was taken over

    /// Runs a test with a program in the reader's place.
    private func withReader(
        _ script: String, _ body: (ReaderProgram) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            try directory.write("reader", "#!/bin/sh\n" + script, mode: 0o755)
            var reader = ReaderProgram(path: directory.path("reader"))
            reader.limits.patience = .seconds(20) * TestLimits.scale
            try await body(reader)
        }
    }

    /// A record for the beginning of the first file of the first step.
    private static let begins = "printf '\\001\\002\\000\\000\\000\\000\\000'\n"

    @Test(
        .proves(
            .reports,
            "A report that crashes its reader, or takes too much memory or time, is unreadable with the reason; the daemon continues and reads the other files"
        ),
        arguments: [
            ("kill -SEGV $$", "the reader ended by signal 11 (SIGSEGV)"),
            ("kill -KILL $$", "the machine ended the reader (SIGKILL), perhaps for lack of memory"),
            ("kill -XCPU $$", "reading it took more than 120 s of processor time"),
            ("echo why >&2; exit 3", "the reader ended with exit status 3: why"),
            ("printf '\\011\\001\\000\\000\\000a'", "the reader's answer is invalid: an unknown record"),
            ("printf '\\002\\377\\377\\377\\377'", "the reader's answer is invalid: a record of 4294967295 bytes"),
            (
                "printf '\\002\\003\\000\\000\\000\\000\\001\\377'",
                "the reader's answer is invalid: a number without an end"
            ),
        ])
    func testThatAReaderThatFailsMakesTheReportUnreadable(end: String, reason: String) async throws {
        try await withReader(Self.begins + end + "\n") { reader in
            // given, when
            let results = try await processor.results(
                of: [Played(step: .testing, report: AttemptProcessorTests.passing)], reader: reader)

            // then: it fails for the same file each time, and is not run a fifth time
            #expect(results.verdict == .testFailures)
            expectContains(results.reason ?? "", "report unreadable: junit.xml: \(reason)")
        }
    }

    @Test func testThatAReaderThatDoesNotEndIsEnded() async throws {
        try await withReader(Self.begins + "exec sleep 600\n") { reader in
            // given
            var reader = reader
            reader.limits.patience = .milliseconds(300)

            // when
            let results = try await processor.results(
                of: [Played(step: .testing, report: AttemptProcessorTests.passing)], reader: reader)

            // then
            expectContains(results.reason ?? "", "reading it took longer than 0 s")
        }
    }

    @Test func testThatAReaderIsEndedWhereTheDaemonStops() async throws {
        try await withReader(Self.begins + "exec sleep 600\n") { reader in
            // given
            let stop = ReaderProgram.Stop()

            // when, then
            #expect(throws: CancellationError.self) {
                _ = try reader.run(stop: stop, feed: { _ in true }, take: { _ in stop.request() })
            }
        }
    }

    @Test(
        .proves(
            .reports,
            "A report that crashes its reader, or takes too much memory or time, is unreadable with the reason; the daemon continues and reads the other files"
        ))
    func testThatAConsoleThatCannotBeReadIsNeverGreen() async throws {
        try await withReader(Self.begins + "kill -SEGV $$\n") { reader in
            for step in [JobStep.analyzing, .building, .testing] {
                // given, when
                let results = try await processor.results(of: [Played(step: step, output: "ok\n")], reader: reader)

                // then
                #expect(results.verdict > .succeeded, "\(step)")
                #expect(
                    results.findings.contains { $0.finding.message.contains("the output could not be read") },
                    "\(step): \(results.findings.map(\.finding.message))")
            }
        }
    }

    // MARK: What it may do

    /// The kernel's data about a reader in the middle of its work.
    @Test(
        .proves(.reports, "The reader has no file, network, environment or secret, and its answer is not trusted"),
        .threat("P1"))
    func testP1ThatItHasNeitherFilesNorNetworkNorEnvironment() throws {
        // given
        var reader = try ReaderProgram.built()
        // A value by which it is distinguished from the readers of other tests.
        reader.limits.memory = 1 << 30 + 1 << 20
        let begun =
            ReadingRequest.root(SourceRoot(mountedAt: "/kit")) + ReadingRequest.step(0, .tests)
            + ReadingRequest.report("junit.xml", size: 3)
        var (records, status, environment, descriptors) = (0, "", "?", [String]())

        // when: it answers the second record, so it has confined itself
        let outcome = try reader.run(
            stop: .init(),
            feed: { bytes in
                records += 1
                if records == 1 { bytes = begun }
                // It waits for more until its answer was taken.
                return records < 3
            },
            take: { _ in
                let pid = try #require(Self.child(memory: reader.limits.memory))
                status = try String(contentsOfProcess: pid, "status")
                environment = try String(contentsOfProcess: pid, "environ")
                descriptors = Self.names(of: "/proc/\(pid)/fd")
            })

        // then
        #expect(outcome.end == .exited(66), "its input ended early")
        expectContains(status, "\nSeccomp:\t2\n")
        expectContains(status, "\nNoNewPrivs:\t1\n")
        #expect(environment == "")
        #expect(descriptors.sorted() == ["0", "1", "2"])
    }

    private static func child(memory: Int64) -> Int32? {
        names(of: "/proc").compactMap { Int32($0) }.first { pid in
            String(decoding: SmallFile.read("/proc/\(pid)/cmdline", limit: 256) ?? [], as: UTF8.self)
                .hasPrefix("martlet-reader\0\(memory)\0")
        }
    }

    private static func names(of directory: String) -> [String] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }
}

extension String {
    fileprivate init(contentsOfProcess pid: Int32, _ file: String) throws {
        self = String(decoding: try #require(SmallFile.read("/proc/\(pid)/\(file)", limit: 8192)), as: UTF8.self)
    }
}
