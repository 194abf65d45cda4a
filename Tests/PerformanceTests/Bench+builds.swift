import Foundation
import Glibc
import ServiceSupport

extension Bench {
    /// Builds that do nothing, two at a time, from the first request to the last end.
    func builds() throws {
        try builds("no fence", settings: "isolation: none\n", goal: 4500)
        do {
            try builds("fenced", settings: "isolation: sandbox\n", goal: 3000)
        } catch {
            say("no-op builds a minute, fenced", "skipped: \("\(error)".prefix(300))")
        }
    }

    private func builds(_ kind: String, settings: String, goal: Double) throws {
        let (bots, each) = (["one", "two", "three"], 200)
        try withService("builds", settings: settings) { service in
            var commits: [String: String] = [:]
            for bot in bots {
                commits[bot] = try service.makeBot(
                    bot,
                    files: [".martlet.yml": "configurations:\n  debug: { build: 'true', test: none }\nanalyze: []\n"])
            }
            for bot in bots {
                let begun = try service.begun(bot)
                guard begun["result"] as? String == "succeeded" else {
                    throw ServiceFailure("the first integration: \(begun["result"] ?? ""), \(begun["reason"] ?? "")")
                }
            }
            let start = Moment.monotonic
            var last: [String: Int] = [:]
            for _ in 0..<each {
                for bot in bots { last[bot] = try service.integrate(bot, commit: commits[bot] ?? "") }
            }
            for (bot, number) in last { try service.completed(bot, number, limit: 300, pause: 20) }
            let seconds = Double(Moment.monotonic - start) / 1_000_000_000
            let minute = Double(each * bots.count) / seconds * 60
            for (bot, number) in last {
                let failed =
                    try service.client.get("bots/\(bot)/integrations?limit=200")["items"] as? [[String: Any]] ?? []
                let bad = failed.filter { $0["result"] as? String != "succeeded" }
                guard bad.isEmpty else {
                    throw ServiceFailure("\(bad.count) builds up to \(bot)#\(number) did not succeed")
                }
            }
            let alone = 60_000 / baseline.spawn.median * 2
            say(
                "no-op builds a minute, \(kind)", "\(Int(minute)) (\(each * bots.count) in \(seconds.text) s)",
                ratio: "two cores only spawning × \((minute / alone).text)",
                goal: Goal(
                    120_000 / minute, atMost: 120_000 / goal, "≥ \(Int(goal))",
                    unit: unit(isSandboxed: kind == "fenced")))
        }
    }
}
