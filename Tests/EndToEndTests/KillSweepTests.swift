import Basics
import Foundation
import Model
import TestSupport
import Testing

@testable import ServiceSupport

/// A sample of what `Tests/KillSweep` does for every change of state: real processes, killed from outside.
@Suite(.program("sha256sum"), .program("zstd")) struct KillSweepTests {
    private static let sample: [KillSweep.Place] = [
        .init("delivery.stored", "after", .daemon), .init("attempt.checkout", "after", .launcher),
        .init("step.started", "before", .supervisor), .init("status.ended", "after", .daemon),
        .init("version.reserved", "after", .daemon), .init("integration.completed", "before", .daemon),
        .init("log.compressed", "after", .daemon),
        .init("trigger.running", "after", .daemon, in: .beforeTriggers),
        .init("trigger.failed", "after", .daemon, in: .failedTrigger),
        .init("rerun.queued", "after", .daemon, in: .rerun),
        .init("attempt.processed", "before", .launcher, in: .rerunOfFailed),
        .init("status.finished", "before", .supervisor, in: .cancel),
        .init("look.stored", "after", .daemon, in: .supersede),
    ]

    private func withSweep<Value: Sendable>(
        _ body: @escaping @Sendable (KillSweep) throws -> Value
    ) async throws -> Value {
        let martlet = try TestTools.builtProduct("martlet")
        return try await withTemporaryDirectory { directory in
            let root = try directory.makeDirectory("sweep")
            return try await BlockingLane(label: "sweep").run {
                let programs = String(martlet.dropLast("/martlet".count))
                let sweep = try KillSweep(root: root, programs: programs)
                defer { sweep.end() }
                return try body(sweep)
            }
        }
    }

    @Test(.threat("K1")) func testThatAKillLosesNothingAndDoesNothingTwice() async throws {
        // when
        let outcomes = try await withSweep { sweep in try Self.sample.map { ($0, try sweep.run($0)) } }

        // then
        for (place, outcome) in outcomes {
            #expect(outcome.isKilled, "\(place)")
            #expect(outcome.violations == [], "\(place)")
        }
    }

    @Test func testThatTheLedgerSeesWhatIsWrong() async throws {
        // given, when
        let (clean, wrong) = try await withSweep { sweep in
            let clean = try sweep.run(.init("step.ended", "after", .launcher)).violations
            let commit = try sweep.service.git("kit", "rev-parse", "HEAD")
            // A step of the second integration again, a byte more in a version, and less of a log.
            let ledger = sweep.service.text("steps")
            try sweep.service.write("steps", ledger + (ledger.split(separator: "\n").last.map { $0 + "\n" } ?? ""))
            let file = "state/files/kit/1.0.0/SHA256SUMS"
            try sweep.service.write(file, sweep.service.text(file) + "\n")
            try sweep.service.write("state/integrations/kit/2/debug/1/log", "build begins\n")
            return (clean, try sweep.violations(of: commit, number: 2, victim: nil) + sweep.changedVersions())
        }

        // then
        #expect(clean == [])
        for text in ["the last attempt ran", "another log", "gap", "1.0.0 has other bytes", "of 3 green integrations"] {
            #expect(wrong.contains { $0.contains(text) }, "\(text): \(wrong)")
        }
    }
}
