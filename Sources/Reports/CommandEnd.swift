/// How a command ended, as the supervisor recorded it.
package struct CommandEnd: Sendable, Hashable {
    /// Nothing when it ended by a signal.
    package var exit: Int?
    package var signal: Int?
    /// The limit that ended it, in words (`timeout 30 min`); nothing when none did.
    package var limit: String?

    package init(exit: Int? = 0, signal: Int? = nil, limit: String? = nil) {
        self.exit = exit
        self.signal = signal
        self.limit = limit
    }

    package var isSuccess: Bool { exit == 0 && signal == nil && limit == nil }

    /// The signal that ended it or, as shells report it, a process beneath it: 128 and the signal's number (POSIX.1-2024,
    /// XCU 2.8.2).
    package var anySignal: Int? {
        if let signal { return signal }
        if let exit, (129...192).contains(exit) { return exit - 128 }
        return nil
    }

    /// `exit status 1`, `signal 11 (SIGSEGV)`, or the limit.
    package var description: String {
        if let limit { return limit }
        if let signal { return SignalName.text(signal) }
        if let exit { return "exit status \(exit)" }
        return "no exit status"
    }
}
