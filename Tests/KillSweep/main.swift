import Foundation
import Glibc
import ServiceSupport

// Kills daemon, launcher and supervisor at every change of state, before and after it is stored, twice each, and checks the outcome with a ledger
// of its own.
//
//   KillSweep [--fenced] [TRANSITION|SCENARIO…|others]      all without a name; others: all scenarios but `publishing`
//   KillSweep --networked                                   in the sandbox, steps that have a network of their own
//
// With --fenced, jobs run in the sandbox, with the scenarios whose jobs behave differently there; pull requests run only there. A place with no
// process to kill is passed once.
// MARTLET_BUILD is the directory with debug builds of `martlet` and `martlet-supervisor`; the default is the directory of this program.
// It prints one line per place and a sum. The exit status is 1 if a promise was broken.

let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
let programs = ProcessInfo.processInfo.environment["MARTLET_BUILD"] ?? (own as NSString).deletingLastPathComponent
let arguments = CommandLine.arguments.dropFirst()
let isNetworked = arguments.contains("--networked")
let isSandboxed = isNetworked || arguments.contains("--fenced")
let scenarios = isNetworked ? [.networked] : KillScenario.all(isSandboxed: isSandboxed)
let names = scenarios.map(\.rawValue)
let wanted = arguments.filter { !["--fenced", "--networked"].contains($0) }.flatMap { name in
    name == "others" ? names.filter { $0 != KillScenario.publishing.rawValue } : [name]
}
let transitions = KillScenario.publishing.transitions
for name in wanted where !names.contains(name) && !transitions.contains(name) {
    Shell.say("KillSweep: there is no \(name); there are \((names + transitions).joined(separator: " "))")
    exit(64)
}
let places = KillSweep.places(of: scenarios).filter { place in
    wanted.isEmpty || wanted.contains(place.scenario.rawValue)
        || place.scenario == .publishing && wanted.contains(place.transition)
}
let root = FileManager.default.temporaryDirectory.path + "/martlet-kill-\(getpid())"
var (runs, violations) = (0, 0)
var kills: [KillSweep.Victim: Int] = [:]

/// Kills at one place, and prints the outcome.
/// - Returns: Whether there was a process to kill.
@MainActor func run(_ place: KillSweep.Place, round: Int, _ sweep: KillSweep) throws -> Bool {
    let outcome = try sweep.run(place)
    runs += 1
    if outcome.isKilled { kills[place.victim, default: 0] += 1 }
    violations += outcome.violations.count
    let scenario = place.scenario == .publishing ? "" : place.scenario.rawValue + "/"
    let name = "\(scenario)\(place.transition) \(place.phase)"
    let padded = name + String(repeating: " ", count: max(1, 44 - name.count))
    let word = outcome.violations.isEmpty ? (outcome.isKilled ? "held" : "held, none ran") : "BROKEN"
    Shell.say("\(padded)\(place.victim.rawValue) \(round)  \(word)  \(outcome.seconds.text) s")
    for violation in outcome.violations { Shell.say("    \(violation)") }
    return outcome.isKilled
}

do {
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    let sweep = try KillSweep(
        root: root, programs: programs, isSandboxed: isSandboxed,
        scenarios: scenarios.filter { scenario in places.contains { $0.scenario == scenario } })
    defer { sweep.end() }
    for place in places where try run(place, round: 1, sweep) { _ = try run(place, round: 2, sweep) }
    for violation in try sweep.changedVersions() {
        violations += 1
        Shell.say("BROKEN  \(violation)")
    }
    // A single place may have no such process. Over all places of a scenario each kind of process occurs.
    for victim in KillSweep.Victim.allCases where places.count > 6 && kills[victim] == nil {
        violations += 1
        Shell.say("BROKEN  no \(victim.rawValue) was ever there to be killed")
    }
} catch {
    Shell.say("KillSweep: \(error)")
    violations += 1
}
let sums = "\(runs) runs, \(kills.values.reduce(0, +)) kills, \(violations) violations"
Shell.say("\(places.count / 6) transitions, before and after, × 3 victims, twice: \(sums)")
exit(violations == 0 ? 0 : 1)
