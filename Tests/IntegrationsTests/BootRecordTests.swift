import Basics
import Execution
import Glibc
import SourceControl
import TestSupport
import Testing

@testable import Integrations
@testable import Jobs

@Suite struct BootRecordTests {
    private static let first = MachineBoot(id: "11111111-1111-4111-8111-111111111111")
    private static let second = MachineBoot(id: "22222222-2222-4222-8222-222222222222")
    private static let unknown = MachineBoot(id: nil)

    /// A state directory with a mirror and a workspace, with the parts that a doubt checks.
    private struct State {
        let directory: TemporaryDirectory
        let state: StateDirectory
        let mirrors: Mirrors

        func record(_ boot: MachineBoot) -> BootRecord { BootRecord(state: state, boot: boot) }

        /// Starts, and leaves the files as a killed daemon does.
        func begin(_ boot: MachineBoot) throws -> BootRecord.Finding { try record(boot).begin(mirrors) }

        func fill() throws {
            try directory.makeDirectory("state/repositories/kit-0/objects")
            try directory.write("state/repositories/kit-0/config", "[core]\n")
            try directory.write("state/workspaces/kit/debug/trusted/0/checkout/record", "known")
            try directory.write("state/workspaces/kit/debug/trusted/0/tree/file", "1\n")
        }

        /// Whether mirror and workspace are doubted: both, or neither.
        var isDoubted: Bool {
            get throws {
                let root = try Directory(opening: state.path)
                let isMarked = try root.status("repositories/kit-0/martlet-damaged") != nil
                let isForgotten = try root.status("workspaces/kit/debug/trusted/0/checkout/record") == nil
                #expect(isMarked == isForgotten)
                return isMarked
            }
        }
    }

    private func withState(_ body: (State) throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let state = StateDirectory(path: directory.path("state"))
            try state.create()
            let mirrors = Mirrors(directory: state.repositories, configuration: GitConfiguration(files: []))
            try body(State(directory: directory, state: state, mirrors: mirrors))
        }
    }

    @Test(
        .proves(
            .jobs,
            "After a stop of the machine, mirrors are verified by their next fetch and workspaces start from scratch; a kill of the daemon doubts nothing"
        ))
    func testThatAKillOfTheDaemonAloneDoubtsNothing() async throws {
        try await withState { state in
            // given
            #expect(try state.begin(Self.first) == .doubted(mirrors: 0, workspaces: 0))
            try state.fill()
            // when
            let finding = try state.begin(Self.first)
            // then
            #expect(finding == .trusted)
            #expect(try !state.isDoubted)
        }
    }

    @Test(
        .proves(
            .jobs,
            "After a stop of the machine, mirrors are verified by their next fetch and workspaces start from scratch; a kill of the daemon doubts nothing"
        ))
    func testThatAnotherBootAfterAKillDoubtsMirrorsAndWorkspacesOnce() async throws {
        try await withState { state in
            // given
            _ = try state.begin(Self.first)
            try state.fill()
            // when
            let findings = [try state.begin(Self.second), try state.begin(Self.second)]
            // then
            #expect(findings == [.doubted(mirrors: 1, workspaces: 1), .trusted])
            #expect(try state.isDoubted)
            expectFile(state.directory.path("state/workspaces/kit/debug/trusted/0/tree/file"), "1\n")
        }
    }

    @Test(
        .proves(
            .jobs,
            "After a stop of the machine, mirrors are verified by their next fetch and workspaces start from scratch; a kill of the daemon doubts nothing"
        ), arguments: [second, unknown])
    func testThatNothingIsDoubtedAfterAStopInOrder(_ next: MachineBoot) async throws {
        try await withState { state in
            // given
            _ = try state.begin(Self.first)
            try state.fill()
            try state.record(Self.first).end(hasJobs: false)
            // when
            let finding = try state.begin(next)
            // then
            #expect(finding == .trusted)
            #expect(try !state.isDoubted)
        }
    }

    /// What a job writes after the stop is not on the disk when the machine stops.
    @Test(
        .proves(
            .jobs,
            "After a stop of the machine, mirrors are verified by their next fetch and workspaces start from scratch; a kill of the daemon doubts nothing"
        ))
    func testThatAStopInOrderWhileJobsGoOnIsNone() async throws {
        try await withState { state in
            // given
            _ = try state.begin(Self.first)
            try state.fill()
            try state.record(Self.first).end(hasJobs: true)
            // when
            let findings = [try state.begin(Self.first), try state.begin(Self.second)]
            // then
            #expect(findings == [.trusted, .doubted(mirrors: 1, workspaces: 1)])
            #expect(try state.isDoubted)
        }
    }

    @Test func testThatAStopInOrderCountsForOneStart() async throws {
        try await withState { state in
            // given
            _ = try state.begin(Self.first)
            try state.record(Self.first).end(hasJobs: false)
            #expect(try state.begin(Self.second) == .trusted)
            try state.fill()
            // when
            let finding = try state.begin(Self.first)
            // then
            #expect(finding == .doubted(mirrors: 1, workspaces: 1))
            #expect(try state.isDoubted)
        }
    }

    /// In a container whose kernel does not identify the boot.
    @Test(
        .proves(
            .jobs,
            "After a stop of the machine, mirrors are verified by their next fetch and workspaces start from scratch; a kill of the daemon doubts nothing"
        ))
    func testThatAnUnknownBootDoubtsAtEachStart() async throws {
        try await withState { state in
            // given
            _ = try state.begin(Self.unknown)
            try state.fill()
            // when
            let findings = [try state.begin(Self.unknown), try state.begin(Self.unknown)]
            // then
            #expect(findings == [.doubted(mirrors: 1, workspaces: 1), .doubted(mirrors: 1, workspaces: 1)])
            #expect(try state.isDoubted)
        }
    }

    @Test(
        .proves(
            .jobs,
            "After a stop of the machine, mirrors are verified by their next fetch and workspaces start from scratch; a kill of the daemon doubts nothing"
        ), arguments: ["", "11111111-1111-4111", "clea", "nonsense\n"])
    func testThatATornRecordDoubts(_ text: String) async throws {
        try await withState { state in
            // given
            try state.fill()
            try state.directory.write("state/boot", text)
            // when
            let finding = try state.begin(Self.first)
            // then
            #expect(finding == .doubted(mirrors: 1, workspaces: 1))
            #expect(try state.isDoubted)
        }
    }

    @Test func testThatAStartThatCouldNotDoubtIsFollowedByOneThatDoes() async throws {
        try await withState { state in
            // given: a directory in place of the mark
            _ = try state.begin(Self.first)
            try state.fill()
            let mark = try state.directory.makeDirectory("state/repositories/kit-0/martlet-damaged/inside")
            #expect(throws: SourceControlError.self) { try state.begin(Self.second) }
            try Directory(opening: state.state.repositories).remove("kit-0/martlet-damaged")
            expectNoFile(mark)
            // when
            let finding = try state.begin(Self.second)
            // then
            #expect(finding == .doubted(mirrors: 1, workspaces: 1))
            #expect(try state.isDoubted)
        }
    }

    @Test(
        .proves(
            .jobs,
            "After a stop of the machine, mirrors are verified by their next fetch and workspaces start from scratch; a kill of the daemon doubts nothing"
        ))
    func testThatOneThatCannotBeDoubtedKeepsNoOtherFromIt() async throws {
        try await withState { state in
            // given: directories in place of the marks of two mirrors, and a file in place of a workspace's record
            _ = try state.begin(Self.first)
            try state.fill()
            for name in ["aaa-0", "zzz-0"] {
                try state.directory.makeDirectory("state/repositories/\(name)/objects")
                try state.directory.makeDirectory("state/repositories/\(name)/martlet-damaged/inside")
            }
            for number in [1, 2] {
                try state.directory.makeDirectory("state/workspaces/kit/debug/trusted/\(number)/tree")
                try state.directory.write("state/workspaces/kit/debug/trusted/\(number)/checkout", "no directory\n")
            }
            // when
            let error = #expect(throws: SourceControlError.self) { try state.begin(Self.second) }
            // then
            #expect(try state.isDoubted)
            let advice = BootRecord.advice(for: try #require(error))
            expectContains(advice, "remove the mirror or the workspace that the error names")
            #expect(throws: SourceControlError.self) { try state.begin(Self.second) }
        }
    }

    @Test(
        .proves(
            .jobs,
            "After a stop of the machine, mirrors are verified by their next fetch and workspaces start from scratch; a kill of the daemon doubts nothing"
        ), arguments: [(ENOSPC, "free space"), (EDQUOT, "free space"), (EACCES, "let the service's user write")])
    func testThatTheAdviceFitsTheError(_ number: Int32, _ words: String) {
        let cause = FileError(operation: "write", path: "/srv/x", errno: number)
        let error = SourceControlError(code: .file, operation: "doubting x", message: "no", underlying: cause)
        for error: any Error in [cause, error] { expectContains(BootRecord.advice(for: error), words) }
    }

    @Test func testThatOnlyAnIdOfTheKernelsIsOne() {
        #expect(Self.first.id != nil)
        for id in ["", "clean", "unknown", String(repeating: "x", count: 36), "11111111-1111-4111-8111-11111111111\n"] {
            #expect(MachineBoot(id: id).id == nil, "\(id)")
        }
        #expect(MachineBoot.current() == .current())
    }
}
