import Basics
import Execution
import Glibc
import JobProtocol
import TestSupport
import Testing

@testable import Jobs

/// Workspaces on a disk of their own that becomes full.
@Suite(.smallDisk) struct DiskGuardTests {
    private struct Fixture {
        let state: StateDirectory
        let workspaces: Workspaces
        let disk: DiskGuard
        let log: RecordingLogger

        /// Returns the number of log lines that begin with a text.
        func warnings(_ text: String) -> Int {
            log.lines.count { $0.message.hasPrefix(text) }
        }

        /// Makes a workspace with a file of 2 MB, last used at this second.
        func workspace(_ slot: Int, usedAt seconds: Int) throws -> Workspace {
            let workspace = Workspace(path: "\(state.workspaces)/kit/debug/trusted/\(slot)")
            let directory = try Directory(creating: workspace.path)
            for part in ["tree", "checkout", "tmp"] { try directory.makeDirectories(part) }
            try directory.write("tree/built", bytes: [UInt8](repeating: 1, count: 2 << 20))
            for place in [workspace.path, workspace.state] {
                var times = Array(repeating: timespec(tv_sec: 1_000_000 + seconds, tv_nsec: 0), count: 2)
                try #require(utimensat(AT_FDCWD, place, &times, 0) == 0)
            }
            return workspace
        }

        func isThere(_ workspace: Workspace) -> Bool { access(workspace.tree, F_OK) == 0 }
    }

    private func withFixture(size: String = "16m", _ body: (Fixture) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let path = try directory.makeDirectory("state")
            try await SmallDisk.mounted(on: path, size: size) {
                let (state, log) = (StateDirectory(path: path), RecordingLogger())
                try state.create()
                let workspaces = Workspaces(root: state.workspaces)
                try await body(
                    Fixture(
                        state: state, workspaces: workspaces,
                        disk: DiskGuard(state: state, workspaces: workspaces, logger: log.logger), log: log))
            }
        }
    }

    @Test(
        .proves(
            .jobs,
            "If the disk is full, idle workspaces are removed and a reserve is released; waiting integrations, pages, `/health` and metrics say so"
        ))
    func testThatIdleWorkspacesGoThatWereUsedLongestAgoUntilThereIsRoom() async throws {
        try await withFixture { fixture in
            // given
            let (late, early) = (try fixture.workspace(0, usedAt: 20), try fixture.workspace(1, usedAt: 10))
            try SmallDisk.fill(with: fixture.state.path + "/full")
            // when
            let finding = await fixture.disk.look()
            // then
            #expect(finding.wasShort)
            #expect(finding.shortage == nil)
            #expect(fixture.disk.shortage == nil)
            #expect(!fixture.isThere(early))
            #expect(fixture.isThere(late))
        }
    }

    @Test(
        .proves(
            .jobs,
            "If the disk is full, idle workspaces are removed and a reserve is released; waiting integrations, pages, `/health` and metrics say so"
        ))
    func testThatAWorkspaceInUseStaysAndTheShortageIsSaid() async throws {
        try await withFixture { fixture in
            // given
            let used = try fixture.workspace(0, usedAt: 10)
            await fixture.workspaces.reacquire(used)
            try SmallDisk.fill(with: fixture.state.path + "/full")
            // when
            let finding = await fixture.disk.look()
            // then
            #expect(fixture.isThere(used))
            #expect(finding.shortage == "the disk is full: \(fixture.state.workspaces) has less than 160 KiB left")
            #expect(fixture.disk.shortage == finding.shortage)
            // It is no longer used
            await fixture.workspaces.release(used)
            #expect(await fixture.disk.look().shortage == nil)
            #expect(fixture.disk.shortage == nil)
        }
    }

    @Test func testThatAWorkspaceGoesWhereThereAreNoMoreFiles() async throws {
        try await withFixture(size: "64m,nr_inodes=700") { fixture in
            // given
            let workspace = try fixture.workspace(0, usedAt: 10)
            let tree = try Directory(opening: workspace.tree)
            var number = 0
            while (try? tree.write("\(number)", bytes: [])) != nil { number += 1 }
            // when
            let finding = await fixture.disk.look()
            // then
            #expect(number > 300)
            #expect(finding.wasShort)
            #expect(finding.shortage == nil)
            #expect(!fixture.isThere(workspace))
        }
    }

    /// It needs 160 KiB. A job that began with slightly more would be short at its next write.
    @Test func testThatADiskThatWasFullIsSoUntilItHasAmpleRoom() async throws {
        try await withFixture { fixture in
            let full = fixture.state.path + "/full"
            // given
            try SmallDisk.fill(with: full, leaving: 240 << 10)
            #expect(await fixture.disk.look().shortage == nil, "it was never full")
            try SmallDisk.fill(with: full)
            #expect(await fixture.disk.look().shortage != nil)
            // when
            try SmallDisk.fill(with: full, leaving: 240 << 10)
            let finding = await fixture.disk.look()
            // then
            #expect(finding.shortage == "the disk is full: \(fixture.state.workspaces) has less than 320 KiB left")
            #expect(finding.wasShort)
            #expect(fixture.disk.shortage == finding.shortage)
            #expect(await !fixture.disk.isShort())
            // when
            try SmallDisk.fill(with: full, leaving: 400 << 10)
            // then
            #expect(await fixture.disk.look().shortage == nil)
            try SmallDisk.fill(with: full, leaving: 240 << 10)
            #expect(await fixture.disk.look().shortage == nil)
        }
    }

    /// The reserve is taken from ample room, which does not cause another shortage.
    @Test func testThatTheReserveDoesNotMakeTheDiskShortAgain() async throws {
        try await withFixture { fixture in
            // given
            let full = fixture.state.path + "/full"
            try SmallDisk.fill(with: full)
            await fixture.disk.tend()
            #expect(await fixture.disk.look().shortage != nil)
            // when
            try SmallDisk.fill(with: full, leaving: 328 << 10)
            let finding = await fixture.disk.look()
            // then
            #expect(access(fixture.state.reserve + "/bytes", F_OK) == 0)
            #expect(finding.shortage == nil)
            #expect(await fixture.disk.look().shortage == nil)
        }
    }

    @Test(
        .proves(
            .jobs,
            "If the disk is full, idle workspaces are removed and a reserve is released; waiting integrations, pages, `/health` and metrics say so"
        ))
    func testThatTheReserveIsKeptAndGivenBackWhereAlmostNothingIsLeft() async throws {
        try await withFixture { fixture in
            // given
            await fixture.disk.tend()
            _ = await fixture.disk.look()
            let reserve = fixture.state.reserve + "/bytes"
            #expect(access(reserve, F_OK) == 0)
            // when
            try SmallDisk.fill(with: fixture.state.path + "/full")
            let finding = await fixture.disk.look()
            // then
            #expect(finding.shortage != nil)
            #expect(access(reserve, F_OK) != 0)
            try Directory(opening: fixture.state.path).write("needed", bytes: [1])
            // It is made again once there is room
            try Directory(opening: fixture.state.path).remove("full")
            #expect(await fixture.disk.look().shortage == nil)
            #expect(access(reserve, F_OK) == 0)
        }
    }

    /// A quota, or a file in its place, has this effect: the disk shows room, and each check tries again.
    @Test func testThatAReserveThatCannotBeMadeIsLoggedOnceForEachCause() async throws {
        try await withFixture { fixture in
            // given
            let warning = "the disk's reserve could not be kept"
            let state = try Directory(opening: fixture.state.path)
            try state.write("reserve", bytes: [])
            // when
            await fixture.disk.tend()
            for _ in 1...3 { _ = await fixture.disk.look() }
            // then
            #expect(fixture.warnings(warning) == 1)
            // Another cause is logged once more, also if both alternate
            for _ in 1...2 {
                try state.remove("reserve")
                try #require(symlink("nowhere", fixture.state.reserve) == 0)
                _ = await fixture.disk.look()
                try state.remove("reserve")
                try state.write("reserve", bytes: [])
                _ = await fixture.disk.look()
            }
            #expect(fixture.warnings(warning) == 2)
            // It is logged again after the reserve was made
            try state.remove("reserve")
            _ = await fixture.disk.look()
            #expect(access(fixture.state.reserve + "/bytes", F_OK) == 0)
            try state.remove("reserve")
            try state.write("reserve", bytes: [])
            _ = await fixture.disk.look()
            #expect(fixture.warnings(warning) == 3)
        }
    }

    @Test(
        .proves(
            .jobs,
            "If the disk is full, idle workspaces are removed and a reserve is released; waiting integrations, pages, `/health` and metrics say so"
        ))
    func testThatAStartOnAFullDiskGivesTheReserveBack() async throws {
        try await withFixture { fixture in
            // given
            await fixture.disk.tend()
            _ = await fixture.disk.look()
            try SmallDisk.fill(with: fixture.state.path + "/full")
            // when
            let words = fixture.state.releaseReserve()
            // then
            #expect(words == "\(fixture.state.path) has less than 160 KiB left")
            #expect(access(fixture.state.reserve + "/bytes", F_OK) != 0)
        }
    }
}
