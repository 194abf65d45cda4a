import Foundation
import Glibc
import ServiceSupport

extension Bench {
    /// Measures a step that prints 200 MB, as a large build does, while other clients use the API.
    func log() throws {
        let text = root + "/build.log"
        try writeBuildLog(text, bytes: 200_000_000)
        defer { unlink(text) }
        let plain = try Moment.milliseconds {
            _ = try Shell.run("/bin/sh", ["-c", "cat '\(text)' | cat > '\(root)/copy'"])
        }
        unlink(root + "/copy")
        try withService("log") { service in
            let commit = try service.makeBot(
                "kit",
                files: [
                    ".martlet.yml":
                        "configurations:\n  debug: { build: \"[ -e small ] || cat '\(text)'\", test: none }\nanalyze: []\n",
                    "small": "",
                ],
                lines: "log: 1GiB\n")
            _ = commit
            _ = try service.begun("kit")
            let asking = Asking(socket: service.state + "/martlet.socket")
            let idle = asking.figures(seconds: 2)
            try service.git("kit", "rm", "-q", "small")
            let large = try service.commit("kit", files: [:])
            let before = Self.residentBytes(service.pid)
            let watch = asking.begin(memoryOf: service.pid)
            let start = Moment.monotonic
            _ = try service.tell("kit", delivery: "large", of: large)
            let number = 2
            _ = Moment.until(limit: 30) { (try? service.client.get("bots/kit/integrations/\(number)")) != nil }
            let end = try service.completed("kit", number, limit: 120, pause: 5)
            let seconds = Double(Moment.monotonic - start) / 1_000_000_000
            let (others, peak) = watch.end()
            guard end["result"] as? String == "succeeded" else { throw ServiceFailure("the log's integration: \(end)") }
            say(
                "200 MB of build-like log, to its end", "\(seconds.text) s",
                ratio: "cat | cat × \((seconds * 1000 / plain).text)",
                goal: Goal("≤ 1.2 s", isMet: seconds <= 1.2))
            say(
                "others' answers meanwhile", "median \(others.median.text) ms, p99 \(others.p99.text)",
                ratio: "idle p99 × \((others.p99 / idle.p99).text)", goal: Goal("p99 ≤ 20 ms", isMet: others.p99 <= 20))
            let growth = Double(max(0, peak - before)) / 1_048_576
            say("the daemon's memory meanwhile", "+\(growth.text) MiB", goal: Goal("≤ 8 MiB", isMet: growth <= 8))
        }
    }

    /// Writes lines as SwiftPM and clang print them, of different lengths, with few repetitions.
    private func writeBuildLog(_ path: String, bytes: Int) throws {
        var block = ""
        for index in 0..<4000 {
            block += "[\(index)/4000] Compiling Module\(index % 37) File\(index).swift\n"
            if index % 9 == 0 {
                block +=
                    "/build/Sources/Module\(index % 37)/File\(index).swift:\(index % 200):\(index % 80): note: in expansion of a macro\n"
            }
        }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        defer { close(descriptor) }
        let part = Array(block.utf8)
        var left = bytes
        while left > 0 {
            left -= max(1, part.withUnsafeBytes { write(descriptor, $0.baseAddress, min($0.count, left)) })
        }
    }

    static func residentBytes(_ pid: pid_t) -> Int {
        let words = ((try? String(contentsOfFile: "/proc/\(pid)/statm", encoding: .utf8)) ?? "").split(separator: " ")
        return words.count > 1 ? (Int(words[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE))) : 0
    }
}
