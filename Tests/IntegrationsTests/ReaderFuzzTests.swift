import Basics
import BotSupport
import Execution
import Foundation
import Reports
import TestSupport
import Testing

/// The real `martlet-reader` with broken reports and consoles: no input may crash it.
///
/// The gate reads some thousand, the same each time. `MARTLET_FUZZ_SECONDS=3600` continues for an hour with others.
@Suite struct ReaderFuzzTests {
    /// The number of inputs of one process.
    private static let inputs = 50
    /// The number of processes in the gate.
    private static let processes = 60
    /// The largest seed, in bytes; larger ones are cut.
    private static let seedBytes = 12_000
    private static let subjects: [StepSubject] = [.tests, .build, .analysis, [.lines, .testList], [.words, .tests]]

    private static func seeds() throws -> [[UInt8]] {
        let directory = try Directory(opening: Project.root + "/Tests/ReportsTests/Samples")
        return try directory.entries().filter { $0.kind == .file }.map(\.name).sorted().map {
            Array(try directory.read($0, limit: 1 << 20).prefix(seedBytes))
        }
    }

    @Test(.proves(.reports, "No input stops a reader or costs more than linear time"), .threat("P2"))
    func testP2ThatNoInputEndsTheReader() throws {
        // given
        let seconds = ProcessInfo.processInfo.environment["MARTLET_FUZZ_SECONDS"].flatMap { Double($0) } ?? 0
        let end = ContinuousClock.now + .seconds(seconds)
        let (reader, seeds) = (try ReaderProgram.built(), try Self.seeds())
        try #require(seeds.count > 40)
        var (process, found) = (0, 0)

        // when
        while process < Self.processes || ContinuousClock.now < end {
            var answer = ReadingAnswer(asked: Dictionary(uniqueKeysWithValues: (0..<Self.inputs).map { ($0, 1) }))
            var next = 0
            let outcome = try reader.run(
                stop: .init(),
                feed: { bytes in
                    if next == 0 { bytes += ReadingRequest.root(SourceRoot(mountedAt: "/home/me/pkg")) }
                    if next < Self.inputs {
                        bytes += Self.step(next, of: process, seeds)
                    } else if next == Self.inputs {
                        bytes += ReadingRequest.end
                    }
                    next += 1
                    return next <= Self.inputs + 1
                },
                take: { bytes throws in try answer.consume(bytes) })

            // then
            let place = "process \(process), input \(answer.begun.map { "\($0.step)" } ?? "?"): \(outcome.complaint)"
            #expect(outcome.end == .exited(0), "\(place)")
            #expect(answer.isWhole, "\(place)")
            found += answer.steps.values.reduce(0) {
                $0 + $1.reports.reduce(0) { $0 + $1.tests.count + $1.findings.count }
            }
            process += 1
        }
        #expect(found > 0, "the mutations must leave something to read")
    }

    /// Returns an input, as a report and as a console.
    private static func step(_ number: Int, of process: Int, _ seeds: [[UInt8]]) -> [UInt8] {
        let index = process * inputs + number
        var mutator = Mutator(state: UInt64(index) &* 0x1_0000_0001)
        let input = mutator.mutated(seeds[index % seeds.count], other: seeds[(index / 7) % seeds.count])
        var request = ReadingRequest.step(number, subjects[index % subjects.count])
        request += ReadingRequest.report("report", size: input.count)
        if !input.isEmpty { request += ReadingRequest.bytes(input) + ReadingRequest.console(input) }
        return request + ReadingRequest.stepEnd
    }
}
