import CLinux

/// Signals as people know them.
enum SignalName {
    /// `SIGKILL`; `signal 35` of one that has no name.
    static func of(_ number: Int32) -> String {
        clinux_signal_name(number).map { "SIG" + String(cString: $0) } ?? "signal \(number)"
    }
}
