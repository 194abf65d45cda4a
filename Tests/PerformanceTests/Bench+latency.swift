import Foundation
import Glibc
import ServiceSupport

extension Bench {
    /// A recipe whose first command prints the time at which it runs.
    static let clockRecipe = "configurations:\n  debug: { build: exec date +%s%N, test: none }\nanalyze: []\n"
    private static let tries = 150
    /// The time without a request, in milliseconds: answers would take processor time.
    private static let silence = 60.0

    /// Measures the time from the request to the first byte of the first command's output, by the clock that the command prints. It includes the
    /// start of a shell and of `date`.
    func latency() throws {
        try latency("no fence", settings: "isolation: none\n", goal: 6)
        do {
            try latency("fenced", settings: "isolation: sandbox\n", goal: 12)
        } catch {
            say("trigger to first byte, fenced", "skipped: \("\(error)".prefix(300))")
        }
    }

    private func latency(_ kind: String, settings: String, goal: Double) throws {
        try withService("latency", settings: settings) { service in
            let first = try service.makeBot("kit", files: [".martlet.yml": Self.clockRecipe, "file": "1\n"])
            let begun = try service.begun("kit")
            guard begun["result"] as? String == "succeeded" else {
                throw ServiceFailure("the first integration: \(begun["result"] ?? ""), \(begun["reason"] ?? "")")
            }
            var (asked, told): ([Double], [Double]) = ([], [])
            for _ in 0..<Self.tries {
                let start = Moment.wall
                let number = try service.integrate("kit", commit: first)
                try service.completed("kit", number, after: Self.silence)
                asked.append(try Self.firstByte(service, number) - Double(start) / 1_000_000)
            }
            // The commits are pushed beforehand, so that git's own time is not included. Only the ref is moved, and then the hook's request is
            // sent.
            for index in 0..<Self.tries / 3 {
                let commit = try service.commit("kit", files: ["file": "\(index + 2)\n"], branch: "later")
                try service.git("kit", "push", "-q", service.root + "/repositories/kit.git", "HEAD:refs/heads/main")
                let start = Moment.wall
                _ = try service.tell("kit", delivery: "\(index)", of: commit)
                usleep(useconds_t(Self.silence * 1000))
                let number = try Self.number(of: commit, service)
                try service.completed("kit", number)
                told.append(try Self.firstByte(service, number) - Double(start) / 1_000_000)
            }
            let figures = Figures(asked)
            say(
                "trigger to first byte, \(kind)", "\(figures.median.text) ms, p99 \(figures.p99.text)",
                ratio: "sh -c 'exec date'" + times(figures, baseline.command),
                goal: Goal(
                    figures.median, atMost: goal, "≤ \(Int(goal)) ms", unit: unit(isSandboxed: kind == "fenced")))
            let pushed = Figures(told)
            say(
                "webhook to first byte, new commit, \(kind)", "\(pushed.median.text) ms, p99 \(pushed.p99.text)",
                ratio: "sh -c 'exec date'" + times(pushed, baseline.command))
        }
    }

    func times(_ figures: Figures, _ base: Figures) -> String { " × \((figures.median / base.median).text)" }

    private static func number(of commit: String, _ service: Service) throws -> Int {
        var number: Int?
        _ = try Moment.until(limit: 30) {
            let items = try service.client.get("bots/kit/integrations?limit=5")["items"] as? [[String: Any]] ?? []
            number = items.first { $0["commit"] as? String == commit }?["number"] as? Int
            return number != nil
        }
        guard let number else { throw ServiceFailure("the pushed commit \(commit) has no integration") }
        return number
    }

    /// Returns the time in milliseconds since 1970.
    private static func firstByte(_ service: Service, _ number: Int) throws -> Double {
        let log = try service.log("kit", number)
        guard let time = log.split(separator: "\n").first.flatMap({ Double($0) }) else {
            throw ServiceFailure("kit#\(number) printed no time: \(log.prefix(200))")
        }
        return time / 1_000_000
    }
}
