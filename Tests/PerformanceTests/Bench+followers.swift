import Foundation
import Glibc
import ServiceSupport

extension Bench {
    private static let times = 100

    /// Measures the delay of a step's output to readers of the log: by server-sent events, and by a request every 10 ms for the bytes after the
    /// last one.
    func followers() throws {
        try withService("followers") { service in
            // Each line contains the time of its printing, by the same clock that the reader uses.
            _ = try service.makeBot(
                "kit",
                files: [
                    ".martlet.yml": "configurations:\n  debug: { build: sh ./clock, test: none }\nanalyze: []\n",
                    "clock": "for i in $(seq \(Self.times)); do date +%s%N; sleep 0.05; done\n",
                ])
            let path = "/api/v1/bots/kit/integrations/1/log/debug"
            let isThere = Moment.until(limit: 60) {
                guard let answer = try? service.client.send("GET", path) else { return false }
                return answer.status == 200 && !answer.body.isEmpty
            }
            guard isThere else { throw ServiceFailure("kit#1 prints nothing") }
            let socket = service.state + "/martlet.socket"
            let told = LogFollower(socket: socket, path: path, isStream: true)
            let asked = LogFollower(socket: socket, path: path, isStream: false)
            try service.completed("kit", 1, after: 1000)
            for (name, follower) in [("server-sent events", told), ("Range", asked)] {
                let figures = Figures(try follower.end())
                say(
                    "a line's way to who follows by \(name)",
                    "median \(figures.median.text) ms, p99 \(figures.p99.text)",
                    goal: Goal("≤ 100 ms", isMet: figures.p99 <= 100))
            }
        }
    }
}
