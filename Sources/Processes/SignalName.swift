import CLinux

/// The names of signals.
package enum SignalName {
    /// Returns a name such as `SIGKILL`, or `signal 35` for a signal without a name.
    package static func of(_ number: Int32) -> String {
        clinux_signal_name(number).map { "SIG" + String(cString: $0) } ?? "signal \(number)"
    }
}
