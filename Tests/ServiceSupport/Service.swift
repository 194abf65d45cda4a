import Basics
import Foundation
import Glibc
import JobProtocol
import Synchronization

/// A daemon as it is installed, used from outside: real processes, a state directory, repositories made by git. Every call blocks.
package final class Service {
    /// The directory of all its files.
    package let root: String
    /// The directory with `martlet` and `martlet-supervisor`.
    package let programs: String
    package let client: ServiceClient
    private var process: Int32 = 0
    private let environment: [String: String]

    package var state: String { root + "/state" }
    /// The directory for temporary files of the daemon and the launcher.
    package var temporary: String { root + "/tmp" }
    /// The daemon's process; 0 while none runs.
    package var pid: Int32 { process }

    /// Writes the settings, and starts no process.
    /// - Parameters:
    ///   - root: An existing, empty directory.
    ///   - settings: Lines beside `listen`, `state`, `secrets` and `concurrency`.
    ///   - environment: Variables beside PATH and HOME.
    /// - Throws: Errors of the file system.
    package init(
        root: String, programs: String, settings: String = "", environment: [String: String] = [:]
    ) throws {
        self.root = root
        self.programs = programs
        let inherited = ProcessInfo.processInfo.environment
        var variables = ["HOME": root, "TMPDIR": root + "/tmp"]
        for name in ["PATH", "LD_LIBRARY_PATH", "LANG"] { variables[name] = inherited[name] }
        self.environment = variables.merging(environment) { $1 }
        client = ServiceClient(socket: root + "/state/martlet.socket")
        for directory in ["etc/bots", "etc/secrets", "etc/triggers", "repositories", "clones", "tmp"] {
            try FileManager.default.createDirectory(atPath: root + "/" + directory, withIntermediateDirectories: true)
        }
        chmod(root + "/etc/secrets", 0o700)
        // Otherwise a daemon that is started as root would not stay root.
        chmod(root + "/etc", 0o700)
        try write(
            "etc/martlet.yml",
            "listen: 127.0.0.1:\(try Self.freePort())\nstate: \(state)\nsecrets: \(root)/etc/secrets\nconcurrency: 2\n"
                + settings)
    }

    /// Writes a file below the root.
    /// - Throws: Errors of the file system.
    package func write(_ path: String, _ text: String, mode: UInt32 = 0o644) throws {
        let whole = root + "/" + path
        try FileManager.default.createDirectory(
            atPath: (whole as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: whole), options: .atomic)
        chmod(whole, mode)
    }

    /// Returns the contents of a file below the root; empty if it does not exist.
    package func text(_ path: String) -> String {
        String(decoding: FileManager.default.contents(atPath: root + "/" + path) ?? Data(), as: UTF8.self)
    }

    /// Returns a free port as the tests' `LoopbackSocket` does, which is not part of these programs. Its ports are others: none that the kernel
    /// gives to a connection, and none twice before all were returned.
    private static func freePort() throws -> Int {
        for _ in ports {
            let port = nextPort.withLock { next in
                next += 1
                return ports.lowerBound + next % ports.count
            }
            if canBind(port) { return port }
        }
        throw ServiceFailure("no port of \(ports) is free")
    }

    private static let ports = 32_000..<32_700
    private static let nextPort = Mutex(Int(getpid()) * 101)

    private static func canBind(_ port: Int) -> Bool {
        let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var reuses: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuses, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    // MARK: Processes

    /// Starts the daemon, which may not answer yet.
    /// - Throws: `ServiceFailure` if it cannot be started.
    func launch() throws {
        process = try Shell.start(
            [programs + "/martlet", "serve", "--settings", root + "/etc/martlet.yml"], environment: environment,
            in: root, output: root + "/daemon.log")
    }

    /// Starts the daemon and returns when it answers.
    /// - Throws: `ServiceFailure` with its last output if it exits, or does not answer within 60 s.
    package func start() throws {
        try launch()
        var hasEnded = false
        let isUp = Moment.until(limit: 60, pause: 5) {
            var status: Int32 = 0
            if waitpid(process, &status, WNOHANG) == process { hasEnded = true }
            // It does not listen yet.
            return hasEnded || (try? client.send("GET", "/health").status) == 200
        }
        if hasEnded { process = 0 }
        guard isUp, !hasEnded else {
            throw ServiceFailure("the daemon does not answer: \(text("daemon.log").suffix(1000))")
        }
    }

    /// Sends the daemon a signal and waits for its exit.
    package func end(_ signal: Int32) {
        guard process > 0 else { return }
        kill(process, signal)
        // A process that is stopped at a failpoint handles no other signal before SIGCONT.
        kill(process, SIGCONT)
        if Shell.wait(process, limit: 60) == nil { Shell.say("the daemon did not end in 60 s and was killed") }
        process = 0
    }

    /// The launcher's process; `nil` if none runs.
    package var launcher: Int32? { owner(of: state + "/launcher.socket.lock") }

    /// The supervisors' processes.
    package var supervisors: [Int32] {
        let directory = state + "/integrations"
        guard let files = FileManager.default.enumerator(atPath: directory) else { return [] }
        return files.compactMap { $0 as? String }.filter { $0.hasSuffix("/lock") }
            .compactMap { owner(of: directory + "/" + $0) }
    }

    private func owner(of lock: String) -> Int32? {
        let text = String(decoding: FileManager.default.contents(atPath: lock) ?? Data(), as: UTF8.self)
        guard let content = LockContent(text), let entry = ProcessTable.entry(of: content.pid), entry.isAlive,
            entry.startTime == content.startTime
        else { return nil }
        return content.pid
    }

    /// Ends the daemon, its jobs and the launcher.
    package func endAll() {
        end(SIGTERM)
        // A process that is stopped at a failpoint handles no other signal before SIGCONT.
        for process in supervisors + [launcher].compactMap({ $0 }) { kill(process, SIGCONT) }
        for supervisor in supervisors { kill(supervisor, SIGTERM) }
        if !Moment.until(limit: 15, pause: 20, { supervisors.isEmpty }) {
            for supervisor in supervisors { kill(supervisor, SIGKILL) }
        }
        if let launcher { kill(launcher, SIGTERM) }
        if !Moment.until(limit: 5, pause: 20, { launcher == nil }), let launcher { kill(launcher, SIGKILL) }
    }

    /// Removes all its files. Jobs leave directories that are read-only.
    package func remove() {
        _ = try? Shell.run("chmod", ["-R", "u+w", root])
        _ = try? FileManager.default.removeItem(atPath: root)
    }
}
