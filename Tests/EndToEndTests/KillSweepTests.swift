import Basics
import Foundation
import Glibc
import Model
import TestSupport
import Testing

@testable import ServiceSupport

/// A sample of what `Tests/KillSweep` does for every change of state: real processes, killed from outside.
@Suite(.program("sha256sum"), .program("zstd"), .program("curl")) struct KillSweepTests {
    private static let sample: [KillSweep.Place] = [
        .init("delivery.stored", "after", .daemon), .init("attempt.checkout", "after", .launcher),
        .init("step.started", "before", .supervisor), .init("status.ended", "after", .daemon),
        .init("version.reserved", "after", .daemon), .init("integration.completed", "before", .daemon),
        .init("log.compressed", "after", .daemon),
        .init("integration.uploading", "after", .daemon, in: .uploading),
        .init("trigger.running", "after", .daemon, in: .beforeTriggers),
        .init("trigger.failed", "after", .daemon, in: .failedTrigger),
        .init("rerun.queued", "after", .daemon, in: .rerun),
        .init("attempt.processed", "before", .launcher, in: .rerunOfFailed),
        .init("status.finished", "before", .supervisor, in: .cancel),
        .init("look.stored", "after", .daemon, in: .supersede),
        .init("rerun.taken-back", "after", .daemon, in: .takenBack),
        .init("attempt.processed", "before", .daemon, in: .leftAlone),
        .init("outbox.sent", "before", .daemon, in: .telling),
        .init("outbox.waiting", "before", .daemon, in: .tellingBusy),
        .init("outbox.given-up", "after", .daemon, in: .tellingGone),
        .init("outbox.waiting", "after", .daemon, in: .tellingAgain),
        .init("outbox.unneeded", "before", .daemon, in: .tellingNobody),
        .init("outbox.recovered", "after", .daemon, in: .tellingResumed),
        .init("outbox.sent", "before", .daemon, in: .reporting),
        .init("outbox.superseded", "after", .daemon, in: .reportingNewest),
        .init("retention.moved", "before", .daemon, in: .retention),
        .init("version.yanked", "before", .daemon, in: .yanking),
        .init("version.abandoned", "before", .daemon, in: .abandoning),
        .init("version.adopted", "before", .daemon, in: .adopting),
    ]
    private static let sandboxedSample: [KillSweep.Place] = [
        .init("pull.approved", "after", .daemon, in: .pull), .init("integration.merged", "before", .daemon, in: .pull),
    ]

    private static let networkedSample: [KillSweep.Place] = [
        .init("status.started", "after", .supervisor, in: .networked)
    ]

    private static let root = URL(fileURLWithPath: #filePath).pathComponents.dropLast(3).joined(separator: "/")

    private func withSweep<Value: Sendable>(
        isSandboxed: Bool = false, _ scenarios: [KillScenario] = [],
        _ body: @escaping @Sendable (KillSweep) throws -> Value
    ) async throws -> Value {
        let martlet = try TestTools.builtProduct("martlet")
        return try await withTemporaryDirectory { directory in
            let root = try directory.makeDirectory("sweep")
            return try await SerialQueue(label: "sweep").run {
                let programs = String(martlet.dropLast("/martlet".count))
                let sweep = try KillSweep(
                    root: root, programs: programs, isSandboxed: isSandboxed, scenarios: scenarios)
                defer { sweep.end() }
                return try body(sweep)
            }
        }
    }

    private func expectHeld(_ sample: [KillSweep.Place], isSandboxed: Bool) async throws {
        // when
        let scenarios = KillScenario.allCases.filter { scenario in sample.contains { $0.scenario == scenario } }
        let outcomes = try await withSweep(isSandboxed: isSandboxed, scenarios) { sweep in
            try sample.map { place in
                var outcome = try sweep.run(place)
                // Between two checks a short job can end, so that there is no process to kill. Then the next one is tried. On a busy machine with a
                // fast disk that is usual.
                for _ in 0..<24 where !outcome.isKilled && outcome.violations.isEmpty { outcome = try sweep.run(place) }
                return (place, outcome)
            }
        }

        // then
        for (place, outcome) in outcomes {
            #expect(outcome.isKilled, "\(place)")
            #expect(outcome.violations == [], "\(place)")
        }
    }

    @Test(
        .proves(
            .intake,
            "A job of an integration that is left alone is ended, also by the next daemon; its slot and its workspace go to the next one"
        ),
        .proves(
            .testsAndPages,
            "Daemon, launcher and supervisor are killed at every change of state, before and after it is stored, twice each, in every scenario of the kill sweep; a ledger of its own checks the outcome"
        ),
        .proves(
            .testsAndPages,
            "Within 15 s of a job, whoever was killed meanwhile: no process, mount, control group or temporary file of it is left"
        ), .threat("K1"))
    func testThatAKillLosesNothingAndDoesNothingTwice() async throws {
        try await expectHeld(Self.sample, isSandboxed: false)
    }

    @Test(
        .proves(
            .testsAndPages,
            "Daemon, launcher and supervisor are killed at every change of state, before and after it is stored, twice each, in every scenario of the kill sweep; a ledger of its own checks the outcome"
        ), .sandbox)
    func testThatAKillLosesNoApprovalOfAPullRequest() async throws {
        try await expectHeld(Self.sandboxedSample, isSandboxed: true)
    }

    @Test(
        .proves(
            .testsAndPages,
            "Daemon, launcher and supervisor are killed at every change of state, before and after it is stored, twice each, in every scenario of the kill sweep; a ledger of its own checks the outcome"
        ), .userNetwork)
    func testThatAKillLeavesNothingOfAStepsNetwork() async throws {
        try await expectHeld(Self.networkedSample, isSandboxed: true)
    }

    // MARK: The table

    @Test(.proves(.testsAndPages, "No failpoint of the sources without a scenario that kills there"))
    func testThatASampleOfEveryScenarioIsRun() {
        #expect(
            Set((Self.sample + Self.sandboxedSample + Self.networkedSample).map(\.scenario))
                == Set(KillScenario.allCases))
    }

    @Test(.proves(.testsAndPages, "No failpoint of the sources without a scenario that kills there"))
    func testThatTheTableHasEveryFailpointOfTheSources() throws {
        // given
        let sources = try SourceFailpoints(beneath: Self.root + "/Sources")

        // when
        let table = Set(KillScenario.allCases.flatMap(\.transitions))

        // then
        #expect(sources.unknown == [])
        #expect(sources.names.subtracting(table).subtracting(KillScenario.unreached.keys) == [])
        #expect(table.subtracting(sources.names) == [])
        #expect(Set(KillScenario.unreached.keys).subtracting(sources.names) == [])
        #expect(table.intersection(KillScenario.unreached.keys) == [])
    }

    @Test(.proves(.testsAndPages, "No failpoint of the sources without a scenario that kills there"))
    func testThatAFailpointIsFoundHoweverItIsNamed() {
        // given
        let text = """
            func passes(_ transition: @autoclosure () -> String) {}
            transaction.passes("a.stored")
            transaction.passes(
                isDone ? "b.ended" : "b.started")
            transaction.passes("trigger.\\(record.state.rawValue)")
            transaction.passes("c.\\(what(it, is))")
            Failpoint.pass("d.moved", .before)
            for name in names { Failpoint.pass(name, .after) }
            clinux_failpoint(Self.name(of: event), "before")
            case .started: "status.started"
            """

        // when
        let sources = SourceFailpoints(text, file: "A.swift")

        // then
        let triggers = ["failed", "running", "skipped", "succeeded"].map { "trigger." + $0 }
        #expect(
            sources.names.sorted()
                == (["a.stored", "b.ended", "b.started", "d.moved", "status.started"] + triggers).sorted())
        #expect(sources.unknown == [#"A.swift: "c.\(what(it, is))""#])
    }

    // MARK: What is left

    /// The things that a job could leave, and the words that report them.
    private static let left = [
        "tmp/download": "/tmp/download", "state/staging/one": "staging/one",
        "state/integrations/.removed/kit.1/log": ".removed/kit.1",
        "state/integrations/kit/1/debug/1/log.zst.part": "debug/1/log.zst.part",
        "state/integrations/kit/1/debug/1/core": "debug/1/core",
        "state/integrations/kit/1/debug/1/reports/.martlet-1": "reports/.martlet-1",
        "state/integrations/kit/1/trigger-a/1.work/tmp/file": "trigger-a/1.work",
        "state/workspaces/kit/debug/release/0/tmp/file": "release/0/tmp/file",
        "state/workspaces/kit/debug/release/0/tree/.martlet-2": "tree/.martlet-2",
        "state/workspaces/kit/debug/fork/0/tree/file": "fork/0", "state/files/kit/.martlet-3": "kit/.martlet-3",
        "uploads/.kit.part-1": "uploads/.kit.part-1",
    ]

    @Test(
        .proves(
            .testsAndPages,
            "Within 15 s of a job, whoever was killed meanwhile: no process, mount, control group or temporary file of it is left"
        ))
    func testThatWhatIsLeftIsFound() async throws {
        // given
        let (clean, found) = try await withSweep { sweep in
            let service = sweep.service
            let clean = Leftovers(service: service).awaitNone()
            // when: there is also a process that a job started
            for path in Self.left.keys { try service.write(path, "") }
            let process = try Shell.start(["sleep", "600"], in: service.state + "/workspaces/kit/debug/release/0/tree")
            defer {
                kill(process, SIGKILL)
                Shell.wait(process)
            }
            var found: [String] = []
            // It becomes `sleep` a moment after its start.
            _ = Moment.until(limit: 10) {
                found = Leftovers(service: service).now()
                return found.contains { $0.hasSuffix("is left: sleep 600 ") }
            }
            return (clean, found)
        }

        // then
        #expect(clean == [])
        for text in Self.left.values { #expect(found.contains { $0.contains(text + " is left") }, "\(text): \(found)") }
        #expect(found.contains { $0.hasSuffix("is left: sleep 600 ") }, "\(found)")
    }

    @Test(
        .proves(
            .testsAndPages,
            "Within 15 s of a job, whoever was killed meanwhile: no process, mount, control group or temporary file of it is left"
        ), .sandbox)
    func testThatAMountAndAControlGroupThatAreLeftAreFound() async throws {
        // given
        let (groups, found) = try await withSweep { sweep in
            let service = sweep.service
            // It is of a process namespace that belongs to no launcher. Any launcher, also another test's, removes our own leftover groups.
            let left = Leftovers(service: service, namespace: 1)
            let mounted = service.state + "/workspaces/kit"
            // when: in an unnamed namespace, and as the group of a supervisor that has exited, if one can be made
            let process = try Shell.start(
                [
                    "bwrap", "--die-with-parent", "--dev-bind", "/", "/", "--bind", mounted, "/mnt", "--chdir", "/",
                    "sleep", "600",
                ])
            let names = left.supervisors()
            let groups = left.groupPlaces().flatMap { (place: String) -> [String] in names.map { place + "/" + $0 } }
                .filter { (path: String) -> Bool in mkdir(path, 0o755) == 0 }
            defer {
                for group in groups { rmdir(group) }
                kill(process, SIGKILL)
                Shell.wait(process)
            }
            var found: [String] = []
            _ = Moment.until(limit: 10) {
                found = left.now()
                // Bubblewrap makes it elsewhere first.
                return found.contains { $0.hasPrefix("mount /mnt of ") }
            }
            return (groups, found)
        }

        // then
        #expect(
            found.contains { $0.hasPrefix("mount /mnt of ") && $0.contains("/state/workspaces/kit is left") },
            "\(found)")
        #expect(groups.isEmpty == !MemoryGroup.isPossible)
        for group in groups { #expect(found.contains("control group \(group) is left")) }
    }

    /// Shows that the search can find something: it sees the group of a running job.
    @Test(.memoryGroup) func testThatTheGroupOfAJobThatRunsIsSeen() async throws {
        // given
        let (running, after) = try await withSweep { sweep in
            let service = sweep.service
            let commit = try service.commit("kit", files: ["file": "seen\n"], branch: KillSweep.branch)
            try sweep.arm(.init("status.started", "after", .supervisor))
            let push = service.push(to: "kit", delivery: "seen", of: commit, branch: KillSweep.branch)
            let delivery = Repetition(socket: service.state + "/martlet.socket") { try push.send(by: $0) == 202 }
            // when
            let stopped = sweep.stoppedProcess()
            let running = Leftovers(service: service).now()
            sweep.disarm()
            if let stopped { kill(stopped, SIGCONT) }
            guard delivery.isAccepted(limit: 60) else { throw ServiceFailure("the push was never accepted") }
            _ = try sweep.end(of: commit, bot: "kit")
            return (running, Leftovers(service: service).awaitNone())
        }

        // then
        #expect(running.contains { $0.hasPrefix("control group /sys/fs/cgroup/") }, "\(running)")
        #expect(after == [])
    }

    @Test(
        .proves(
            .testsAndPages,
            "Daemon, launcher and supervisor are killed at every change of state, before and after it is stored, twice each, in every scenario of the kill sweep; a ledger of its own checks the outcome"
        ))
    func testThatTheLedgerSeesWhatIsWrong() async throws {
        // given, when
        let (clean, wrong) = try await withSweep { sweep in
            let clean = try sweep.run(.init("step.ended", "after", .launcher)).violations
            let commit = try sweep.service.git("kit", "rev-parse", "HEAD")
            // A step of the second integration runs again, a version has a byte more, and a log is shorter.
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
