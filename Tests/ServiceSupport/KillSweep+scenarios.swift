import Foundation
import Glibc

extension KillSweep {
    private var around: KillScenario.Surroundings {
        KillScenario.Surroundings(uploads: service.root + "/uploads", port: listener.port) { [stepLedger] name in
            "#!/bin/sh\n" + Self.note(name, in: stepLedger)
        }
    }

    /// Writes the bots of all scenarios and waits for their first integrations, at the first kill that needs one.
    private func prepareScenarios() throws {
        guard !hasScenarios else { return }
        let own = scenarios.filter { $0 != .publishing }
        listener.set(flag: "go", true)
        listener.set(flag: "mended", true)
        try service.write("etc/secrets/sweep-key", "whsec_" + Self.key.base64EncodedString(), mode: 0o600)
        try service.write("etc/secrets/sweep-token", "of-the-sweep", mode: 0o600)
        for scenario in own {
            let bot = scenario.bot(around)
            for (name, text) in bot.scripts { try service.write("etc/triggers/\(name)", text, mode: 0o755) }
            _ = try service.makeBot(
                scenario.rawValue,
                files: [
                    ".martlet.yml": bot.recipe + "analyze: []\narchive: { include: [\(bot.archive)] }\n",
                    "step": (isSandboxed ? "" : Self.note("$STEP", in: stepLedger)) + "echo \"$STEP of $(cat file)\"\n",
                    "file": "0\n",
                ], lines: bot.lines)
        }
        for scenario in own {
            let first = try service.begun(scenario.rawValue)
            guard first["result"] as? String == scenario.firstResult else {
                throw ServiceFailure(
                    "the first of \(scenario.rawValue): \(first["result"] ?? ""), \(first["reason"] ?? "")")
            }
        }
        listener.set(flag: "go", false)
        hasScenarios = true
    }

    /// Returns the command by which a script records the attempt that it is of.
    private static func note(_ name: String, in ledger: String) -> String {
        "echo \"\(name) $(tr '\\0' ' ' </proc/$PPID/cmdline)\" >> '\(ledger)'\n"
    }

    // MARK: One kill

    /// Runs a scenario, as `run(_:)` does for the usual integration.
    func runScenario(_ place: Place, kill: (Int32, inout Outcome) throws -> Void) throws -> Outcome {
        try prepareScenarios()
        let course = try begin(place.scenario)
        var outcome = Outcome()
        try arm(place)
        if course.isAtStart { try service.launch() }
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
        outcome.violations += try course.more(outcome.isKilled && place.victim == .daemon)
        outcome.violations += try databaseViolations()
        outcome.violations += Leftovers(service: service).awaitNone()
        return outcome
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
        for (job, allowed) in course.attempts {
            let directory = directory(of: job, "\(service.state)/integrations/\(course.bot)/\(number)")
            let made = attempts(in: directory)
            if made.count < allowed || made.count > allowed + (allowed > 0 ? extra : 0) {
                found.append(
                    "\(name)/\(job) has \(made.count) attempts, where \(allowed) and at most \(extra) more are allowed")
            }
            for attempt in made {
                let ran = steps(ranIn: "\(directory)/\(attempt)")
                if Set(ran).count != ran.count { found.append("\(name)/\(job)/\(attempt) ran \(ran)") }
                if ran.isEmpty, attempt == made.last, result != "canceled" {
                    found.append("\(name)/\(job)/\(attempt) never ran")
                }
            }
        }
        return found
    }

    /// A trigger's name in an integration's directory begins with an underscore if a configuration has the same name.
    private func directory(of job: String, _ integration: String) -> String {
        let own = "\(integration)/_\(job)"
        return access(own, F_OK) == 0 ? own : "\(integration)/\(job)"
    }

    /// Returns the steps that ran, according to the file that they append to. In the sandbox, where they cannot reach the file, according to their
    /// output.
    func steps(ranIn attempt: String) -> [String] {
        guard isSandboxed else {
            let lines = service.text("steps").split(separator: "\n")
            return lines.filter { $0.hasSuffix(" \(attempt) ") }.map { String($0.split(separator: " ")[0]) }
        }
        let log = String(decoding: logBytes(attempt) ?? Data(), as: UTF8.self)
        return log.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            return words.count > 1 && words[1] == "of" ? String(words[0]) : nil
        }
    }

    /// Each artifact exists once and complete, and there is no other file.
    func uploadViolations(of commit: String, bot: String) throws -> [String] {
        let number = try end(of: commit, bot: bot)
        let listed =
            try service.client.get("bots/\(bot)/integrations/\(number)/artifacts")["items"] as? [[String: Any]] ?? []
        let wanted = listed.compactMap { item in
            (item["sha256"] as? String).flatMap { sum in (item["path"] as? String).map { "\(sum)  ./\($0)" } }
        }
        let found = try Shell.run(
            "/bin/sh", ["-c", "cd '\(service.root)/uploads/\(commit)' || exit 0; find . -type f -exec sha256sum {} +"])
        let lines = found.split(separator: "\n").map(String.init)
        return !wanted.isEmpty && Set(wanted) == Set(lines) ? [] : ["\(bot)#\(number) uploaded \(lines) of \(wanted)"]
    }
}
