import Basics
import BotSupport
import Execution
import Glibc
import Model
import SourceControl
import Storage
import TestSupport
import Testing

@testable import Integrations
@testable import Jobs

/// Jobs that cannot be prepared on a disk with enough room for the service, but no ample room.
@Suite(.smallDisk) struct DiskWaitTests {
    private static let noSpace = FileError(operation: "write", path: "a", errno: ENOSPC)

    /// Runs a test with a service whose state is on a disk of its own, of which it needs some 650 KiB.
    private func withSmallDisk(_ body: (Bot, JobRunner, Workspace, IntegrationID) async throws -> Void) async throws {
        try await withTemporaryDirectory { outer in
            let disk = try outer.makeDirectory("disk")
            try await SmallDisk.mounted(on: disk, size: "64m") {
                try await withBot(BotPlan(state: disk + "/state")) { bot in
                    expectResult(of: try await bot.integrate(), "succeeded")
                    let jobs = try bot.otherJobs(JobSlots(count: 1))
                    let workspace = await jobs.workspaces.acquire(
                        bot: bot.name, configuration: try Samples.name("other"), domain: .trusted)
                    try Directory(creating: workspace.tree).write("half", bytes: [1])
                    try await body(bot, jobs, workspace, IntegrationID(bot: bot.name, number: 1))
                }
            }
        }
    }

    @Test func testThatAJobThatFoundNoRoomWaitsForAmpleRoomAndIsMadeReadyAgain() async throws {
        try await withSmallDisk { bot, jobs, workspace, id in
            // given: the failed write was larger than the remaining room
            let full = bot.state.path + "/full"
            try SmallDisk.fill(with: full, leaving: 1 << 20)
            #expect(await jobs.disk.look().shortage == nil)
            let isAgain = Locked<Bool?>(nil)
            // when
            let job = Task {
                let result = await jobs.mustPrepareAgain(
                    workspace, after: Self.noSpace, tries: 1, for: id, Cancellation())
                isAgain.withLock { $0 = result }
            }
            // then
            await until("it waits") { jobs.disk.shortage != nil }
            #expect(isAgain.value == nil)
            #expect(access(workspace.tree, F_OK) != 0)
            // It is prepared again as soon as there is room
            try #require(unlink(full) == 0)
            await until("its end") {
                bot.timer.advance(by: .seconds(10))
                return isAgain.value != nil
            }
            #expect(isAgain.value == true)
            #expect(jobs.disk.shortage == nil)
            await job.value
        }
    }

    @Test func testThatAFaultThatIsNotTheDisksIsTold() async throws {
        try await withSmallDisk { bot, jobs, workspace, id in
            // given: the disk has ample room
            #expect(
                await !jobs.mustPrepareAgain(workspace, after: Self.noSpace, tries: 1, for: id, Cancellation()),
                "as of a quota")
            // when: it does not
            try SmallDisk.fill(with: bot.state.path + "/full", leaving: 1 << 20)
            let refused = SourceControlError(code: .treeRefused, operation: "checkout", message: "a path is refused")
            // then
            #expect(await !jobs.mustPrepareAgain(workspace, after: refused, tries: 1, for: id, Cancellation()))
            let tries = JobRunner.maximumPreparations
            #expect(
                await !jobs.mustPrepareAgain(workspace, after: Self.noSpace, tries: tries, for: id, Cancellation()))
            #expect(access(workspace.tree, F_OK) == 0)
        }
    }
}
