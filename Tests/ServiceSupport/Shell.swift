import Foundation
import Glibc

/// An error: a program failed that must not fail, or a service does not do what it should.
package struct ServiceFailure: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}

/// Programs that are run until they exit, for callers without Swift's concurrency. Every call blocks.
package enum Shell {
    /// Starts a program with default signal handling, and does not wait for it. nohup(1) leaves SIGHUP ignored in this process, and a thread of a
    /// pool blocks all signals.
    /// - Parameters:
    ///   - arguments: The first is a path, or looked up in PATH.
    ///   - output: The file to which standard output and standard error are appended; `nil` to discard them.
    /// - Throws: `ServiceFailure` if it cannot be started.
    package static func start(
        _ arguments: [String], environment: [String: String]? = nil, in directory: String? = nil, output: String? = nil
    ) throws -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output ?? "/dev/null", O_WRONLY | O_CREAT | O_APPEND, 0o644)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        let arguments = directory.map { ["env", "-C", $0] + arguments } ?? arguments
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        let variables = environment ?? ProcessInfo.processInfo.environment
        var pairs: [UnsafeMutablePointer<CChar>?] = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in words + pairs { free(text) } }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        for signal in [SIGKILL, SIGSTOP] { sigdelset(&all, signal) }
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var pid: Int32 = 0
        let result = posix_spawnp(&pid, arguments[0], &actions, &attributes, &words, &pairs)
        guard result == 0 else {
            throw ServiceFailure("\(arguments[0]) cannot be started: \(String(cString: strerror(result)))")
        }
        return pid
    }

    /// Waits until a child exits.
    /// - Returns: Its exit status, or the negative number of the signal that ended it.
    @discardableResult package static func wait(_ pid: Int32) -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        return status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
    }

    /// Waits until a child exits, and kills it after `limit` seconds.
    /// - Returns: The same as `wait`; `nil` if the child was killed.
    @discardableResult package static func wait(_ pid: Int32, limit: Double) -> Int32? {
        var notified = siginfo_t()
        let hasEnded = Moment.until(limit: limit) {
            waitid(P_PID, id_t(pid), &notified, WEXITED | WNOHANG | WNOWAIT) != 0 || notified.si_signo != 0
        }
        if !hasEnded { kill(pid, SIGKILL) }
        let status = wait(pid)
        return hasEnded ? status : nil
    }

    /// Runs a program until it exits.
    /// - Returns: Its output, without newlines at its end.
    /// - Throws: `ServiceFailure` with its last output if it exits with another status than 0.
    @discardableResult package static func run(
        _ program: String, _ arguments: [String], environment: [String: String]? = nil, in directory: String? = nil
    ) throws -> String {
        let arguments = [program] + arguments
        let file =
            FileManager.default.temporaryDirectory.path
            + "/martlet-shell-\(getpid())-\(UInt64.random(in: 0...UInt64.max))"
        defer { unlink(file) }
        let status = wait(try start(arguments, environment: environment, in: directory, output: file))
        let text = String(decoding: FileManager.default.contents(atPath: file) ?? Data(), as: UTF8.self)
        guard status == 0 else {
            throw ServiceFailure("\(arguments.joined(separator: " ")) ended with \(status): \(text.suffix(2000))")
        }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Prints a line at once, also into a pipe.
    package static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    /// Whether a program is in PATH.
    package static func has(_ program: String) -> Bool {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
            access("\($0)/\(program)", X_OK) == 0
        }
    }
}
