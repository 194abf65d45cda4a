/// The end of a command, as the supervisor recorded it.
package struct CommandEnd: Sendable, Hashable {
    /// The exit status; `nil` if a signal ended it.
    package var exit: Int?
    package var signal: Int?
    /// The limit that ended it, in words (`timeout 30 min`); `nil` if none did.
    package var limit: String?

    /// The console's description of the last crash: `ended by signal 4 (SIGILL): Fatal error: …`. SwiftPM ends with exit status 1 when its test
    /// process crashes, so only the console names the signal.
    package var crash: String?

    /// - Parameter console: The command's output, which is searched for crash reports of the Swift runtime and SwiftPM.
    package init(exit: Int? = 0, signal: Int? = nil, limit: String? = nil, console: [UInt8] = []) {
        self.exit = exit
        self.signal = signal
        self.limit = limit
        crash = CrashReader.last(in: console)
    }

    package var isSuccess: Bool { exit == 0 && signal == nil && limit == nil }

    /// The signal that ended the command or a process that it ran. Shells report the latter as exit status 128 plus the signal's number
    /// (POSIX.1-2024, XCU 2.8.2). `nil` if none did.
    package var anySignal: Int? {
        if let signal { return signal }
        if let exit, (129...192).contains(exit) { return exit - 128 }
        return nil
    }

    /// A text such as `exit status 1` or `signal 11 (SIGSEGV)`, or the limit.
    package var description: String {
        if let limit { return limit }
        if let signal { return SignalName.text(signal) }
        if let exit { return "exit status \(exit)" }
        return "no exit status"
    }
}

/// The names of signals on Linux (signal(7); the numbers are those of x86_64 and aarch64).
package enum SignalName {
    /// The names by number, from 1.
    private static let names = [
        "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM",
        "TERM",
        "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH",
        "IO",
        "PWR", "SYS",
    ]

    /// Returns a text such as `signal 11 (SIGSEGV)`, or `signal 35` for a signal without a name.
    package static func text(_ signal: Int) -> String {
        names.indices.contains(signal - 1) ? "signal \(signal) (SIG\(names[signal - 1]))" : "signal \(signal)"
    }
}
