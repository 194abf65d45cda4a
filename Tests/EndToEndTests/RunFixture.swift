import Basics
import Foundation
import Glibc
import JobProtocol
import TestSupport
import Testing

/// A user's working tree `kit` with its own home and cache, and `martlet run` in it.
struct RunFixture: Sendable {
    let directory: TemporaryDirectory
    let program: String
    /// A text in the command lines of the tree's jobs, by which leftover processes are found.
    let marker: String
    private let started = Locked<[StartedProgram]>([])

    init(directory: TemporaryDirectory, program: String, marker: String) {
        (self.directory, self.program, self.marker) = (directory, program, marker)
    }

    /// Ends the processes that a failed test has left.
    fileprivate func endAll() async throws {
        for one in started.value {
            one.signal(SIGKILL)
            try await one.end()
        }
    }

    var tree: String { directory.path("kit") }
    var caches: String { directory.path("cache/martlet/run") }

    var environment: [String: String] {
        [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": directory.path("home"),
            "XDG_CACHE_HOME": directory.path("cache"), "TERM": "xterm",
        ]
    }

    func write(_ files: [String: String]) throws {
        for (name, text) in files { try directory.write("kit/\(name)", text) }
    }

    func martlet(
        _ arguments: [String] = [], in place: String? = nil, environment added: [String: String] = [:]
    ) async throws -> ProgramResult {
        try await run(
            [program, "run"] + arguments, in: place ?? tree, environment: environment.merging(added) { $1 })
    }

    /// Runs it on a terminal of 60 columns, made by script(1).
    func martletOnTerminal(environment added: [String: String] = [:]) async throws -> ProgramResult {
        try await run(
            ["script", "-qec", "stty cols 60; exec '\(program)' run", "/dev/null"], in: tree,
            environment: environment.merging(added) { $1 })
    }

    /// Starts the command in a process group of its own, as a shell on a terminal would.
    /// - Parameter output: The path of the output; `nil` for the file `output`, which is created again.
    func start(_ arguments: [String] = [], into output: String? = nil) async throws -> StartedProgram {
        if output == nil { try directory.write("output", "") }
        let program = try await StartedProgram.start(
            [program, "run"] + arguments, in: tree, environment: environment,
            output: output ?? directory.path("output"))
        started.withLock { $0.append(program) }
        return program
    }

    /// Returns a file of the workspace in which the configuration `debug` is built.
    func built(_ name: String) throws -> String {
        // This is called repeatedly while the directory is made, so a missing one is no issue of the test.
        guard let own = try Directory(opening: caches).entries().first(where: { $0.name.hasPrefix("kit-") })?.name
        else {
            throw CocoaError(.fileNoSuchFile)
        }
        let path = "\(caches)/\(own)/workspaces/kit/debug/trusted/0/tree/\(name)"
        return String(decoding: try WholeFile.read(path, limit: 1 << 20), as: UTF8.self)
    }

    /// The processes of this fixture's jobs.
    var left: [Int32] { Self.processes(naming: marker) }

    /// The processes of the launcher and its supervisors.
    var supervisors: [Int32] { Self.processes(naming: caches) }

    private static func processes(naming text: String) -> [Int32] {
        ProcessTable.all().filter { entry in
            guard entry.isAlive, let line = SmallFile.read("/proc/\(entry.pid)/cmdline", limit: 1 << 16) else {
                return false
            }
            return String(decoding: line, as: UTF8.self).contains(text)
        }.map(\.pid)
    }

    /// Returns every path of the working tree with its changeable attributes.
    func inventory() throws -> [String: String] {
        var found: [String: String] = [:]
        let root = try Directory(opening: tree)
        try root.walk(limit: 10_000) { path, status in
            let content = status.kind == .file ? try root.read(path, limit: 1 << 20) : []
            found[String(decoding: path, as: UTF8.self)] =
                "\(status.kind) \(status.mode) \(status.modified) \(status.inode) \(content.count)"
        }
        return found
    }
}

/// Runs a test with a working tree with these files. No process that it started may be left afterwards.
func withWorkingTree(
    _ files: [String: String], _ body: (RunFixture) async throws -> Void
) async throws {
    try await withTemporaryDirectory { directory in
        try directory.makeDirectory("home")
        try directory.makeDirectory("kit")
        let fixture = RunFixture(
            directory: directory, program: try TestTools.builtProduct("martlet"),
            marker: "marker-" + directory.path.split(separator: "-").suffix(1).joined())
        try fixture.write(files.mapValues { $0.replacing("{marker}", with: fixture.marker) })
        let result: Result<Void, any Error>
        do { result = .success(try await body(fixture)) } catch { result = .failure(error) }
        try await fixture.endAll()
        await until("the launcher and its supervisors are gone") { fixture.supervisors.isEmpty }
        #expect(fixture.left.isEmpty, "processes of the jobs remain")
        try result.get()
    }
}
