/// Names of signals on Linux (signal(7); the numbers are those of x86_64 and aarch64).
enum SignalName {
    private static let names: [Int: String] = [
        1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE",
        9: "SIGKILL", 11: "SIGSEGV", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM", 24: "SIGXCPU", 25: "SIGXFSZ",
        31: "SIGSYS",
    ]

    /// `signal 11 (SIGSEGV)`.
    static func text(_ signal: Int) -> String {
        names[signal].map { "signal \(signal) (\($0))" } ?? "signal \(signal)"
    }
}
