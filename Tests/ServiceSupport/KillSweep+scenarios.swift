import Foundation
import Glibc

extension KillSweep {
    /// An integration that is where the kill is to fall, what brings it on, and what must have become of it.
    private struct Course {
        let bot: String
        /// Done over and over until it says that it is accepted, as somebody does who gets no answer.
        let act: @Sendable (ServiceClient) throws -> Bool
        /// The result of each commit's one integration.
        let results: [(commit: String, result: String)]
        /// How many attempts each job, and each trigger's script, has without a kill.
        let attempts: [String: Int]
        /// What else does not hold at the end.
        var more: () throws -> [String] = { [] }
    }

    private var flags: String { service.root + "/flags" }

    /// Writes the bots of all scenarios and awaits their first integrations. Done at the first kill that needs one.
    private func prepareScenarios() throws {
        guard !hasScenarios else { return }
        try FileManager.default.createDirectory(atPath: flags, withIntermediateDirectories: true)
        try flag("go")
        try flag("mended")
        for scenario in KillScenario.allCases where scenario != .publishing {
            let bot = scenario.bot(flags: flags) { "#!/bin/sh\n" + ledgerCommand($0) }
            for (name, text) in bot.scripts { try service.write("etc/triggers/\(name)", text, mode: 0o755) }
            _ = try service.makeBot(
                scenario.rawValue,
                files: [
                    ".martlet.yml": bot.recipe + "analyze: []\narchive: { include: [\(bot.archive)] }\n",
                    "step": ledgerCommand("$STEP") + "echo \"$STEP of $(cat file)\"\n", "file": "0\n",
                ], lines: bot.lines)
        }
        for scenario in KillScenario.allCases where scenario != .publishing {
            let first = try service.begun(scenario.rawValue)
            let expected = scenario == .failedTrigger ? "trigger-error" : "succeeded"
            guard first["result"] as? String == expected else {
                throw ServiceFailure(
                    "the first of \(scenario.rawValue): \(first["result"] ?? ""), \(first["reason"] ?? "")")
            }
        }
        unflag("go")
        hasScenarios = true
    }

    private func ledgerCommand(_ name: String) -> String {
        "echo \"\(name) $(tr '\\0' ' ' </proc/$PPID/cmdline)\" >> '\(stepLedger)'\n"
    }

    private func flag(_ name: String) throws { try service.write("flags/\(name)", "") }
    private func unflag(_ name: String) { unlink(flags + "/" + name) }

    // MARK: One kill

    /// As `run(_:)` does for the usual integration.
    func runScenario(_ place: Place, kill: (Int32, inout Outcome) throws -> Void) throws -> Outcome {
        try prepareScenarios()
        let course = try begin(place.scenario)
        var outcome = Outcome()
        try arm(place)
        let asking = Repetition(socket: service.state + "/martlet.socket", course.act)
        if let stopped = stoppedProcess() {
            try kill(stopped, &outcome)
        } else {
            outcome.violations.append("\(place.transition) was not passed")
            disarm()
        }
        guard asking.isAccepted(limit: 60) else { throw ServiceFailure("\(place.scenario): it was never accepted") }
        let extra = outcome.isKilled && place.victim == .supervisor ? 1 : 0
        for (commit, result) in course.results {
            outcome.violations += try violations(of: commit, result: result, course, extra: extra)
        }
        outcome.violations += try course.more()
        outcome.violations += try databaseViolations()
        outcome.violations += leftovers()
        return outcome
    }

    private func begin(_ scenario: KillScenario) throws -> Course {
        let bot = scenario.rawValue
        func push(_ commit: String) -> @Sendable (ServiceClient) throws -> Bool {
            let push = service.push(to: bot, delivery: "\(bot)-\(runs)", of: commit, branch: "main")
            return { try push.send(by: $0) == 202 }
        }
        switch scenario {
        case .publishing: throw ServiceFailure("publishing has a way of its own")
        case .uploading:
            let commit = try service.commit(bot, files: ["file": "\(runs)\n"])
            return Course(bot: bot, act: push(commit), results: [(commit, "succeeded")], attempts: ["debug": 1]) {
                try self.uploadViolations(of: commit, bot: bot)
            }
        case .beforeTriggers, .failedTrigger:
            let commit = try service.commit(bot, files: ["file": "\(runs)\n"])
            let isBefore = scenario == .beforeTriggers
            return Course(
                bot: bot, act: push(commit), results: [(commit, isBefore ? "succeeded" : "trigger-error")],
                attempts: isBefore
                    ? ["debug": 1, "trigger-ready": 1] : ["debug": 1, "trigger-breaks": 1, "trigger-later": 0])
        case .rerun, .rerunOfFailed:
            unflag("mended")
            let commit = try service.commit(bot, files: ["file": "\(runs)\n"])
            let number = try ended(commit, of: bot, by: push(commit))
            try flag("mended")
            let body = scenario == .rerun ? "{}" : #"{"failed":true}"#
            return Course(
                bot: bot, act: { try Self.rerun("bots/\(bot)/integrations/\(number)", body, $0) },
                results: [(commit, "succeeded")], attempts: ["debug": 2, "good": scenario == .rerun ? 2 : 1])
        case .cancel:
            let (commit, number) = try running(bot, by: push)
            return Course(
                bot: bot, act: { try Self.cancel("bots/\(bot)/integrations/\(number)", $0) },
                results: [(commit, "canceled")], attempts: ["debug": 1])
        case .supersede:
            let (commit, _) = try running(bot, by: push)
            let newer = try service.commit(bot, files: ["file": "\(runs) newer\n", "quick": ""])
            let push = service.push(to: bot, delivery: "\(bot)-\(runs)-newer", of: newer, branch: "main")
            return Course(
                bot: bot, act: { try push.send(by: $0) == 202 }, results: [(commit, "canceled"), (newer, "succeeded")],
                attempts: ["debug": 1])
        }
    }

    /// Brings a new commit to where its job runs.
    private func running(
        _ bot: String, by push: (String) -> @Sendable (ServiceClient) throws -> Bool
    ) throws -> (commit: String, number: Int) {
        unflag("runs")
        try service.git(bot, "rm", "-q", "--ignore-unmatch", "quick")
        let commit = try service.commit(bot, files: ["file": "\(runs)\n"])
        _ = try push(commit)(service.client)
        let isRunning = Moment.until(limit: 60) {
            !service.text("flags/runs").isEmpty || access(flags + "/runs", F_OK) == 0
        }
        guard isRunning, let number = try integrations(of: commit, bot: bot).first?["number"] as? Int else {
            throw ServiceFailure("the job of \(commit) of \(bot) did not begin")
        }
        return (commit, number)
    }

    private func ended(
        _ commit: String, of bot: String, by act: (ServiceClient) throws -> Bool
    ) throws -> Int {
        _ = try act(service.client)
        return try end(of: commit, bot: bot)
    }

    /// Who got no answer looks before asking again: a second rerun would be another one.
    private static func rerun(_ path: String, _ body: String, _ client: ServiceClient) throws -> Bool {
        if try client.get(path)["run"] as? Int ?? 1 > 1 { return true }
        return try client.send("POST", "/api/v1/\(path)/rerun", body: body).status == 201
    }

    private static func cancel(_ path: String, _ client: ServiceClient) throws -> Bool {
        if try client.get(path)["state"] as? String == "completed" { return true }
        return try client.send("POST", "/api/v1/\(path)/cancel", body: #"{"grace":1}"#).status == 202
    }

    // MARK: What must hold

    private func violations(
        of commit: String, result: String, _ course: Course, extra: Int
    ) throws -> [String] {
        var found: [String] = []
        let number = try end(of: commit, bot: course.bot)
        let listed = try integrations(of: commit, bot: course.bot)
        let name = "\(course.bot)#\(number)"
        if listed.count != 1 { found.append("\(name)'s commit has \(listed.count) integrations instead of one") }
        let view = try service.client.get("bots/\(course.bot)/integrations/\(number)")
        if view["result"] as? String != result {
            found.append("\(name) is \(view["result"] ?? "?") instead of \(result): \(view["reason"] ?? "")")
        }
        let lines = service.text("steps").split(separator: "\n")
        for (job, allowed) in course.attempts {
            let directory = "\(service.state)/integrations/\(course.bot)/\(number)/\(job)"
            let made = attempts(in: directory)
            if made.count < allowed || made.count > allowed + (allowed > 0 ? extra : 0) {
                found.append(
                    "\(name)/\(job) has \(made.count) attempts, where \(allowed) and at most \(extra) more are allowed")
            }
            for attempt in made {
                let ran = lines.filter { $0.hasSuffix(" \(directory)/\(attempt) ") }.map { $0.split(separator: " ")[0] }
                if Set(ran).count != ran.count { found.append("\(name)/\(job)/\(attempt) ran \(ran)") }
                if ran.isEmpty, attempt == made.last, result != "canceled" {
                    found.append("\(name)/\(job)/\(attempt) never ran")
                }
            }
        }
        return found
    }

    /// Each artifact is there once and whole, and nothing else is.
    private func uploadViolations(of commit: String, bot: String) throws -> [String] {
        let number = try end(of: commit, bot: bot)
        let listed =
            try service.client.get("bots/\(bot)/integrations/\(number)/artifacts")["items"] as? [[String: Any]] ?? []
        let place = "\(flags)/uploads/\(commit)"
        let wanted = listed.compactMap { item in
            (item["sha256"] as? String).flatMap { sum in (item["path"] as? String).map { "\(sum)  ./\($0)" } }
        }
        let found = try Shell.run("/bin/sh", ["-c", "cd '\(place)' && find . -type f -exec sha256sum {} +"])
        let lines = found.split(separator: "\n").map(String.init)
        return !wanted.isEmpty && Set(wanted) == Set(lines) ? [] : ["\(bot)#\(number) uploaded \(lines) of \(wanted)"]
    }
}
