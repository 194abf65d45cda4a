import Foundation
import Glibc
import ServiceSupport

extension Bench {
    private static let mebibyte = 1_048_576.0

    /// Measures a supervisor: the time from its start to its exit without a job, and its private memory while its job runs.
    func supervisor() throws {
        // The supervisor's exit is included: it finds that it has no job.
        let start = try Figures(
            (0..<100).map { _ in
                try Moment.milliseconds { Shell.wait(try Shell.start([programs + "/martlet-supervisor", "--help"])) }
            })
        say(
            "a supervisor's start and end", "\(start.median.text) ms, p99 \(start.p99.text)",
            ratio: "spawn and wait" + times(start, baseline.spawn),
            goal: Goal(start.median, atMost: 2, "≤ 2 ms", unit: unit(isSandboxed: false)))
        try withService("supervisor") { service in
            let flag = service.root + "/go"
            _ = try service.makeBot(
                "kit",
                files: [
                    ".martlet.yml":
                        "configurations:\n  debug: { build: \"until [ -e '\(flag)' ]; do sleep 0.05; done\", test: none }\n"
                        + "analyze: []\n"
                ])
            var own: Double?
            let isRead = Moment.until(limit: 60) {
                own = service.supervisors.first.flatMap(Self.privateBytes)
                return own != nil
            }
            try service.write("go", "")
            _ = try service.begun("kit")
            guard isRead, let own else { throw ServiceFailure("the memory of no supervisor could be read") }
            let mebibytes = own / Self.mebibyte
            say(
                "a supervisor's own memory while a step runs", "\(mebibytes.text) MiB",
                goal: Goal("≤ 1 MiB", isMet: mebibytes <= 1))
        }
    }

    /// Returns the memory that no other process shares (proc_pid_smaps(5)), in bytes; `nil` if it cannot be read.
    private static func privateBytes(_ pid: Int32) -> Double? {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/smaps_rollup", encoding: .utf8) else { return nil }
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("Private_") }
        let kibibytes = lines.compactMap { $0.split(separator: " ").dropFirst().first.flatMap { Double($0) } }
        return kibibytes.isEmpty ? nil : kibibytes.reduce(0, +) * 1024
    }
}
