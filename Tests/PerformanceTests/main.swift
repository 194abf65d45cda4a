import Foundation
import Glibc
import ServiceSupport

// Measures the cost of an integration with a real daemon, over its API, with a real repository and the real supervisor.
//
//   PerformanceTests [latency] [builds] [log] [followers] [supervisor] [change]     all without a name
//
// MARTLET_BUILD is the directory with `martlet` and `martlet-supervisor`, built with `-c release`; the default is the directory of this program. It
// is not part of `swift test`, because a figure needs a quiet machine. Each figure is printed beside the machine's own time in the same run and
// beside its goal. A missed goal is no error. The format of a line is `figure  NAME  VALUE  ratio to …  goal …  met|missed`.

let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
let programs = ProcessInfo.processInfo.environment["MARTLET_BUILD"] ?? (own as NSString).deletingLastPathComponent
let wanted = Array(CommandLine.arguments.dropFirst())
let names = ["latency", "builds", "log", "followers", "supervisor", "change"]
for name in wanted where !names.contains(name) {
    Shell.say("usage: PerformanceTests [\(names.joined(separator: "] ["))]")
    exit(64)
}

do {
    let bench = try Bench(programs: programs)
    defer { bench.remove() }
    try bench.describeMachine()
    if wanted.isEmpty || wanted.contains("latency") { try bench.latency() }
    if wanted.isEmpty || wanted.contains("builds") { try bench.builds() }
    if wanted.isEmpty || wanted.contains("log") { try bench.log() }
    if wanted.isEmpty || wanted.contains("followers") { try bench.followers() }
    if wanted.isEmpty || wanted.contains("supervisor") { try bench.supervisor() }
    if wanted.isEmpty || wanted.contains("change") { try bench.change() }
} catch {
    Shell.say("PerformanceTests: \(error)")
    exit(1)
}
