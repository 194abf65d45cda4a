/// Signals as people know them.
enum SignalName {
    /// By number, from 1 (signal(7); the numbers are those of x86_64 and aarch64).
    private static let names = [
        "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM",
        "TERM",
        "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH",
        "IO",
        "PWR", "SYS",
    ]

    /// `SIGKILL`; `signal 35` of one that has no name.
    static func of(_ number: Int32) -> String {
        names.indices.contains(Int(number) - 1) ? "SIG" + names[Int(number) - 1] : "signal \(number)"
    }
}
