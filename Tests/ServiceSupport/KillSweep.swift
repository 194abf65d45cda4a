import Foundation
import Glibc

/// Kills the daemon, the launcher or a supervisor at a change of state, from outside and with real processes, and checks the outcome with a ledger
/// of its own.
///
/// The programs must be debug builds, which stop at a `Failpoint`. Every call blocks.
package final class KillSweep {
    /// The process that is killed.
    package enum Victim: String, CaseIterable, Sendable { case daemon, launcher, supervisor }

    /// One kill: at a change of state, before or after it is stored.
    package struct Place: Hashable, Sendable {
        package let transition: String
        package let phase: String
        package let victim: Victim
        package let scenario: KillScenario

        package init(
            _ transition: String, _ phase: String, _ victim: Victim, in scenario: KillScenario = .publishing
        ) {
            self.scenario = scenario
            self.transition = transition
            self.phase = phase
            self.victim = victim
        }
    }

    /// The outcome of a kill.
    package struct Outcome: Sendable {
        /// The broken promises, in words; empty if all held.
        package var violations: [String] = []
        /// Whether there was such a process to kill. Without one the run is checked nevertheless.
        package var isKilled = false
        package var seconds = 0.0
    }

    /// Returns every transition of scenarios, before and after, for each victim.
    package static func places(of scenarios: [KillScenario]) -> [Place] {
        scenarios.flatMap { scenario in
            scenario.transitions.flatMap { transition in
                ["before", "after"].flatMap { phase in
                    Victim.allCases.map { Place(transition, phase, $0, in: scenario) }
                }
            }
        }
    }

    let service: Service
    let listener: Listener
    /// The scenarios for which there are bots.
    let scenarios: [KillScenario]
    /// Whether jobs run in the sandbox, where they cannot reach an outside ledger. Then only their logs show what ran.
    let isSandboxed: Bool
    private let failpoint: String
    private(set) var runs = 0
    /// Whether the bots of all scenarios exist.
    var hasScenarios = false
    /// The bytes of each published version when it was first seen.
    var published: [String: String] = [:]
    /// The number of successful integrations, each of which publishes.
    var succeeded = 0
    /// The bots whose branch is broken.
    var broken: Set<String> = []

    static let branch = "release/1.0"
    /// The number of lines that each step prints. Both steps together make a log that is worth compressing, and long enough for the attempt to be
    /// shown as ended while the log is read: over 1 MiB.
    private static let lines = 100_000
    /// The expected log.
    static let log = ["build", "test"].map { step in
        "\(step) begins\n" + (1...lines).map { "\($0)\n" }.joined() + "\(step) ends\n"
    }.joined()
    var stepLedger: String { service.root + "/steps" }

    /// Starts a daemon and brings its bot to a first green integration.
    /// - Parameters:
    ///   - root: An empty directory.
    ///   - isSandboxed: Whether jobs run in the sandbox.
    ///   - scenarios: The scenarios to run; each needs a bot and its first integration.
    /// - Throws: `ServiceFailure`.
    package init(root: String, programs: String, isSandboxed: Bool = false, scenarios: [KillScenario]) throws {
        failpoint = root + "/failpoint"
        self.isSandboxed = isSandboxed
        self.scenarios = scenarios
        listener = try Listener()
        // The flags are on the host's loopback, which a step with a network of its own cannot reach.
        let sharesNetwork = !scenarios.contains(.networked)
        service = try Service(
            root: root, programs: programs,
            settings: "isolation: \(isSandboxed ? "sandbox\nsandbox: { loopback: \(sharesNetwork) }" : "none")\n",
            environment: ["MARTLET_FAILPOINT": failpoint])
        let note = isSandboxed ? "" : "echo \"$STEP $(tr '\\0' ' ' </proc/$PPID/cmdline)\" >> '\(service.root)/steps'"
        let step = """
            \(note)
            echo "$STEP begins"; seq \(Self.lines); echo "$STEP" >> made.txt; echo "$STEP ends"

            """
        let recipe = """
            configurations:
              debug: { build: "STEP=build; rm -f made.txt; . ./step", test: "STEP=test; . ./step" }
            analyze: []
            archive: { include: [made.txt] }

            """
        do {
            _ = try service.makeBot(
                "kit", branch: Self.branch, files: [".martlet.yml": recipe, "step": step, ".gitignore": "made.txt\n"],
                lines: "triggers:\n  - { name: publish, branches: [\"release/*\"], publish: { version: branch } }\n")
            try service.start()
            let begun = try service.begun("kit")
            guard begun["result"] as? String == "succeeded" else {
                throw ServiceFailure("the first integration: \(begun["result"] ?? ""), \(begun["reason"] ?? "")")
            }
            succeeded = 1
        } catch {
            end()
            throw error
        }
    }

    /// Ends all started processes.
    package func end() {
        unlink(failpoint)
        for supervisor in service.supervisors { Glibc.kill(supervisor, SIGCONT) }
        service.endAll()
        listener.end()
        service.remove()
    }

    // MARK: One kill

    /// Pushes a commit, kills at the place, restarts the service, waits for the end and checks.
    /// - Throws: `ServiceFailure` if the service does not come back. A broken promise is in the outcome.
    package func run(_ place: Place) throws -> Outcome {
        let start = Moment.monotonic
        runs += 1
        var outcome = Outcome()
        guard place.scenario == .publishing else {
            outcome = try runScenario(place) { stopped, outcome in
                try kill(place.victim, stopped: stopped, &outcome)
            }
            outcome.seconds = Double(Moment.monotonic - start) / 1_000_000_000
            return outcome
        }
        let commit = try service.commit("kit", files: ["file": "\(runs)\n"], branch: Self.branch)
        try arm(place)
        let push = service.push(to: "kit", delivery: "run-\(runs)", of: commit, branch: Self.branch)
        let delivery = Repetition(socket: service.state + "/martlet.socket") { try push.send(by: $0) == 202 }
        if let stopped = stoppedProcess() {
            try kill(place.victim, stopped: stopped, &outcome)
        } else {
            outcome.violations.append("\(place.transition) was not passed")
            disarm()
        }
        guard delivery.isAccepted(limit: 60) else { throw ServiceFailure("the push of \(commit) was never accepted") }
        let number = try end(of: commit, bot: "kit")
        if !isCompressed(number) { outcome.violations.append("the log of kit#\(number) is not compressed") }
        outcome.violations += try violations(of: commit, number: number, victim: outcome.isKilled ? place.victim : nil)
        outcome.seconds = Double(Moment.monotonic - start) / 1_000_000_000
        return outcome
    }

    /// From now on the first process that passes the place stops itself.
    func arm(_ place: Place) throws {
        unlink(failpoint + ".hit")
        try service.write("failpoint", "\(place.transition) \(place.phase)\n")
    }

    func disarm() { unlink(failpoint) }

    /// Returns the process that stopped itself; `nil` if none did.
    func stoppedProcess() -> Int32? {
        var pid: Int32?
        let isStopped = Moment.until(limit: 60) {
            pid = pid_t(service.text("failpoint.hit").trimmingCharacters(in: .whitespacesAndNewlines))
            guard let pid, let status = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else {
                return false
            }
            return status.split(separator: ")").last?.split(separator: " ").first == "T"
        }
        return isStopped ? pid : nil
    }

    private func kill(_ victim: Victim, stopped: Int32, _ outcome: inout Outcome) throws {
        switch victim {
        case .daemon:
            outcome.isKilled = true
            service.end(SIGKILL)
            if stopped != service.pid { Glibc.kill(stopped, SIGCONT) }
            try service.start()
        case .launcher, .supervisor:
            let victims = victim == .launcher ? [service.launcher].compactMap { $0 } : service.supervisors
            outcome.isKilled = !victims.isEmpty
            for pid in victims { Glibc.kill(pid, SIGKILL) }
            // A process's exit is visible only after a moment.
            _ = Moment.until(limit: 10) { victims.allSatisfy { !Self.lives($0) } }
            Glibc.kill(stopped, SIGCONT)
        }
    }

    private static func lives(_ pid: Int32) -> Bool {
        guard let status = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return false }
        return status.split(separator: ")").last?.split(separator: " ").first != "Z"
    }

    /// Waits until the integration of a commit is completed.
    /// - Returns: Its number.
    func end(of commit: String, bot: String) throws -> Int {
        var number: Int?
        let isDone = Moment.until(limit: 90, pause: 20) {
            // A daemon that was just killed does not answer.
            guard let listed = try? integrations(of: commit, bot: bot), let first = listed.first else { return false }
            number = first["number"] as? Int
            return first["state"] as? String == "completed"
        }
        guard isDone, let number else {
            throw ServiceFailure(
                "the integration of \(commit) is not completed: \(service.text("daemon.log").suffix(2000))")
        }
        return number
    }

    /// Whether the log of the last attempt is compressed, which happens beside the other work.
    private func isCompressed(_ number: Int) -> Bool {
        let job = service.state + "/integrations/kit/\(number)/debug"
        return Moment.until(limit: 30, pause: 20) {
            guard let last = attempts(in: job).last else { return false }
            let files = Set((try? FileManager.default.contentsOfDirectory(atPath: "\(job)/\(last)")) ?? [])
            return files.contains("log.zst") && !files.contains("log")
        }
    }

    /// Returns the numbers of a job's attempts, in order.
    func attempts(in job: String) -> [Int] {
        ((try? FileManager.default.contentsOfDirectory(atPath: job)) ?? []).compactMap { Int($0) }.sorted()
    }

    func integrations(of commit: String, bot: String = "kit") throws -> [[String: Any]] {
        let items = try service.client.get("bots/\(bot)/integrations?limit=10")["items"] as? [[String: Any]] ?? []
        // Of a pull request the commit is its merge.
        return items.filter { ($0["head"] as? String ?? $0["commit"] as? String) == commit }
    }
}
