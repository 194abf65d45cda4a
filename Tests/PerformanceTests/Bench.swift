import Foundation
import Glibc
import ServiceSupport

/// One run of the measurements: a scratch directory, the baseline, and the printed lines.
final class Bench {
    let programs: String
    let root: String
    let baseline: Baseline
    private var services: [Service] = []

    init(programs: String) throws {
        self.programs = programs
        for program in ["martlet", "martlet-supervisor", "martlet-tools", "martlet-reader"]
        where access("\(programs)/\(program)", X_OK) != 0 {
            throw ServiceFailure("\(programs)/\(program) is not there; build it, or set MARTLET_BUILD")
        }
        root = FileManager.default.temporaryDirectory.path + "/martlet-bench-\(getpid())"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        baseline = try Baseline(in: root)
    }

    func remove() {
        for service in services { service.remove() }
        // At worst the files stay in the temporary directory, with our name.
        try? FileManager.default.removeItem(atPath: root)
    }

    /// Runs a measurement with a daemon of its own, which is ended in any case.
    func withService(_ name: String, settings: String = "isolation: none\n", _ body: (Service) throws -> Void) throws {
        let directory = "\(root)/\(name)-\(services.count)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let service = try Service(root: directory, programs: programs, settings: settings)
        // Its files stay until the end of all measurements: ext4 creates files more slowly after many were removed in the last minute.
        services.append(service)
        defer { service.endAll() }
        try service.start()
        try body(service)
    }

    /// Returns the unit of a job's goal: the time of bubblewrap with a sandbox, or else of a process.
    func unit(isSandboxed: Bool) -> (here: Double, there: Double, name: String) {
        if isSandboxed, let sandbox = baseline.sandbox { return (sandbox.median, Goal.bubblewrap, "bubblewrap") }
        return (baseline.spawn.median, Goal.spawn, "spawn and wait")
    }

    // MARK: Lines

    /// Prints a figure.
    /// - Parameters:
    ///   - value: The value with its unit.
    ///   - ratio: The ratio to another value of the same run.
    ///   - goal: `nil` if there is none.
    func say(_ name: String, _ value: String, ratio: String = "", goal: Goal? = nil) {
        var line = "figure  \(name.padding(to: 44)) \(value.padding(to: 34)) \(ratio.padding(to: 40))"
        if let goal { line += " \(goal.words)" }
        while line.hasSuffix(" ") { line.removeLast() }
        Shell.say(line)
    }

    func describeMachine() throws {
        let cpu = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        let model = cpu.split(separator: "\n").first { $0.hasPrefix("model name") }?.split(separator: ":").last ?? "?"
        var system = utsname()
        uname(&system)
        let kernel = withUnsafeBytes(of: &system.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let load = (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8))?.split(separator: " ").first ?? "?"
        Shell.say(
            "machine \(model.trimmingCharacters(in: .whitespaces)), \(sysconf(Int32(_SC_NPROCESSORS_ONLN))) cores, Linux \(kernel), load \(load)"
        )
        var versions = [try Shell.run(programs + "/martlet", ["--version"]), try Shell.run("git", ["--version"])]
        if Shell.has("swift"),
            let line = try Shell.run("swift", ["--version"]).split(separator: "\n").first(where: {
                $0.contains("version")
            })
        {
            versions.append(String(line))
        }
        if Shell.has("bwrap") { versions.append(try Shell.run("bwrap", ["--version"])) }
        Shell.say("with    martlet \(versions.joined(separator: ", ")); \(programs)")
        say("spawn and wait of /bin/true", "\(baseline.spawn.median.text) ms, p99 \(baseline.spawn.p99.text)")
        say("sh -c 'exec date'", "\(baseline.command.median.text) ms, p99 \(baseline.command.p99.text)")
        say("durable commit in SQLite", "\(baseline.commit.median.text) ms, p99 \(baseline.commit.p99.text)")
        if let sandbox = baseline.sandbox {
            say("bubblewrap alone", "\(sandbox.median.text) ms, p99 \(sandbox.p99.text)")
        }
    }
}

extension String {
    func padding(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
