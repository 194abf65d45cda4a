import Basics
import BotSupport
import Foundation
import Model
import Storage
import TestSupport
import Testing

/// A disk that is full while a job runs: nothing that is stored is lost, the fault is named as ours, and with space again the
/// service goes on by itself.
@Suite struct FullDiskTests {
    @Test(.smallDisk) func testThatTheServiceGoesOnWhenThereIsSpaceAgain() async throws {
        try await withTemporaryDirectory { outer in
            let disk = try outer.makeDirectory("disk")
            try await runExpectingSuccess(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", disk])
            do {
                try await integrateOnFullDisk(disk)
            } catch {
                try await runExpectingSuccess(["umount", disk])
                throw error
            }
            try await runExpectingSuccess(["umount", disk])
        }
    }

    private func integrateOnFullDisk(_ disk: String) async throws {
        try await withBot(BotPlan(state: disk + "/state", executor: .local)) { bot in
            // given
            bot.log.expectErrors(containing: "")
            expectResult(of: try await bot.integrate(), "succeeded")

            // when: the job fills the disk
            let id = try await bot.begin(
                .running(.testing, of: "debug", script: "cat /dev/zero >\(disk)/full; echo a line of the log"))
            await until("the disk is full", limit: .seconds(20)) {
                (try? await run(["tail", "-c1", "\(disk)/full"]).status) == 0 && bot.jobProcesses.isEmpty
            }
            try FileManager.default.removeItem(atPath: disk + "/full")

            // then: whatever this one came to, it has come to an end, and the next is green
            let store = try bot.store
            try await until("its end", limit: Bot.waitLimit) {
                // The pause before what could not be stored is tried again.
                bot.timer.advance(by: .seconds(10))
                return try await store.integration(id)?.state.verdict != nil
            }
            let full = try await bot.completion(of: id)
            #expect([.internalError, .testFailures, .succeeded].contains(full.verdict))
            expectResult(of: try await bot.integrate(), "succeeded")
            #expect(
                try await bot.store.integration(IntegrationID(bot: bot.name, number: 1))?.state.verdict == .succeeded)
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// Where a file system in memory can be mounted.
    fileprivate static var smallDisk: Self {
        .enabled("only root may mount a file system") {
            let probe = NSTemporaryDirectory() + "/martlet-mount-\(ProcessInfo.processInfo.processIdentifier)"
            try FileManager.default.createDirectory(atPath: probe, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: probe) }
            guard try await run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", probe]).status == 0 else {
                return false
            }
            return try await run(["umount", probe]).status == 0
        }
    }
}
