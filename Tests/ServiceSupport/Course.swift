extension KillSweep {
    /// An integration that is at the place of the kill, with the act that continues it and its expected outcome.
    struct Course {
        let bot: String
        /// Repeated until it returns that it was accepted, as a client does that gets no answer.
        let act: @Sendable (ServiceClient) throws -> Bool
        /// The result of each commit's one integration.
        let results: [(commit: String, result: String)]
        /// The number of attempts of each job, and of each trigger's script, without a kill.
        let attempts: [String: Int]
        /// Whether the daemon is down, and passes the place when it starts.
        var isAtStart = false
        /// Returns further violations at the end, given whether the daemon was killed.
        var more: (_ isDaemonKilled: Bool) throws -> [String] = { _ in [] }
    }

    /// Brings a scenario to the place of its kill.
    func begin(_ scenario: KillScenario) throws -> Course {
        let bot = scenario.rawValue
        switch scenario {
        case .publishing: throw ServiceFailure("publishing has a way of its own")
        case .uploading:
            let commit = try service.commit(bot, files: ["file": "\(runs)\n"])
            return Course(
                bot: bot, act: push(commit, to: bot), results: [(commit, "succeeded")], attempts: ["debug": 1]
            ) { _ in
                try self.uploadViolations(of: commit, bot: bot)
            }
        case .networked:
            let commit = try service.commit(bot, files: ["file": "\(runs)\n"])
            return Course(
                bot: bot, act: push(commit, to: bot), results: [(commit, "succeeded")], attempts: ["debug": 1])
        case .beforeTriggers, .failedTrigger:
            let commit = try service.commit(bot, files: ["file": "\(runs)\n"])
            let isBefore = scenario == .beforeTriggers
            return Course(
                bot: bot, act: push(commit, to: bot), results: [(commit, isBefore ? "succeeded" : "trigger-error")],
                attempts: isBefore
                    ? ["debug": 1, "_trigger-ready": 1] : ["debug": 1, "_trigger-breaks": 1, "_trigger-later": 0])
        case .rerun, .rerunOfFailed:
            listener.set(flag: "mended", false)
            let commit = try service.commit(bot, files: ["file": "\(runs)\n"])
            let number = try ended(commit, of: bot)
            listener.set(flag: "mended", true)
            let body = scenario == .rerun ? "{}" : #"{"failed":true}"#
            return Course(
                bot: bot, act: { try Self.rerun("bots/\(bot)/integrations/\(number)", body, $0) },
                results: [(commit, "succeeded")], attempts: ["debug": 2, "good": scenario == .rerun ? 2 : 1])
        case .cancel:
            let (commit, number) = try running(bot)
            return Course(
                bot: bot, act: { try Self.cancel("bots/\(bot)/integrations/\(number)", $0) },
                results: [(commit, "canceled")], attempts: ["debug": 1])
        case .supersede:
            let (commit, _) = try running(bot)
            let newer = try service.commit(bot, files: ["file": "\(runs) newer\n", "quick": ""])
            return Course(
                bot: bot, act: push(newer, to: bot), results: [(commit, "canceled"), (newer, "succeeded")],
                attempts: ["debug": 1])
        case .takenBack: return try beginTakingBack()
        case .leftAlone: return try beginLeavingAlone()
        case .pull: return try beginPull()
        case .telling, .tellingBusy, .tellingGone, .tellingAgain, .tellingNobody: return try beginTelling(scenario)
        case .tellingResumed: return try beginResuming()
        case .reporting, .reportingNewest: return try beginReporting(scenario)
        case .retention: return try beginRetention()
        case .yanking: return try beginYanking()
        case .abandoning: return try beginAbandoning()
        case .adopting: return try beginAdopting()
        }
    }

    /// Returns an act that announces a commit until the service knows it.
    func push(_ commit: String, to bot: String) -> @Sendable (ServiceClient) throws -> Bool {
        let push = service.push(to: bot, delivery: "\(bot)-\(commit)", of: commit, branch: "main")
        return { try push.send(by: $0) == 202 }
    }

    /// Announces a commit and waits until its integration is completed.
    /// - Returns: Its number.
    func ended(_ commit: String, of bot: String) throws -> Int {
        _ = try push(commit, to: bot)(service.client)
        return try end(of: commit, bot: bot)
    }

    /// Pushes a new commit and waits until its job runs.
    func running(_ bot: String) throws -> (commit: String, number: Int) {
        try service.git(bot, "rm", "-q", "--ignore-unmatch", "quick")
        let commit = try service.commit(bot, files: ["file": "\(runs)\n"])
        _ = try push(commit, to: bot)(service.client)
        var number: Int?
        let isRunning = Moment.until(limit: 60) {
            number = (try? integrations(of: commit, bot: bot))?.first?["number"] as? Int
            // The job's first output is in its log, also in the sandbox.
            return number.map { !service.text("state/integrations/\(bot)/\($0)/debug/1/log").isEmpty } ?? false
        }
        guard isRunning, let number else { throw ServiceFailure("the job of \(commit) of \(bot) did not begin") }
        return (commit, number)
    }

    /// A rerun waits behind the job of a newer commit of the branch, and a user cancels it. The outcome is that of no rerun.
    private func beginTakingBack() throws -> Course {
        let (bot, listener) = (KillScenario.takenBack.rawValue, listener)
        listener.set(flag: "go", false)
        let commit = try service.commit(bot, files: ["file": "\(runs) older\n", "quick": ""])
        let number = try ended(commit, of: bot)
        let (newer, _) = try running(bot)
        let path = "bots/\(bot)/integrations/\(number)"
        guard try Self.rerun(path, "{}", service.client) else { throw ServiceFailure("\(path) is not run again") }
        let act: @Sendable (ServiceClient) throws -> Bool = { client in
            guard try Self.cancel(path, client) else { return false }
            // The newer commit's job may end. Then every waiting integration would run.
            listener.set(flag: "go", true)
            return true
        }
        return Course(
            bot: bot, act: act, results: [(commit, "succeeded"), (newer, "succeeded")], attempts: ["debug": 1]
        ) { _ in
            listener.set(flag: "go", false)
            let run = try self.service.client.get(path)["run"] as? Int ?? 1
            return run == 1 ? [] : ["\(bot)#\(number) is in its run \(run), which was taken back"]
        }
    }

    /// After a missing answer it looks before it asks again, because a second rerun would be another one.
    private static func rerun(_ path: String, _ body: String, _ client: ServiceClient) throws -> Bool {
        if try client.get(path)["run"] as? Int ?? 1 > 1 { return true }
        return try client.send("POST", "/api/v1/\(path)/rerun", body: body).status == 201
    }

    private static func cancel(_ path: String, _ client: ServiceClient) throws -> Bool {
        if try client.get(path)["state"] as? String == "completed" { return true }
        return try client.send("POST", "/api/v1/\(path)/cancel", body: #"{"grace":1}"#).status == 202
    }
}
