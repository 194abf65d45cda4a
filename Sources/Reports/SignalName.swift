/// Names of signals on Linux (signal(7); the numbers are those of x86_64 and aarch64).
package enum SignalName {
    /// By number, from 1.
    private static let names = [
        "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM",
        "TERM",
        "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH",
        "IO",
        "PWR", "SYS",
    ]

    /// `signal 11 (SIGSEGV)`; `signal 35` for one without a name.
    package static func text(_ signal: Int) -> String {
        names.indices.contains(signal - 1) ? "signal \(signal) (SIG\(names[signal - 1]))" : "signal \(signal)"
    }
}
