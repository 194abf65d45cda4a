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
