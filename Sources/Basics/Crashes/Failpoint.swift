import CLinux
import Glibc

/// A place in the code at which tests stop this process, to kill this or another process there. Release builds have none.
///
/// The environment variable `MARTLET_FAILPOINT` names a file with a line `NAME PHASE`. The first process that passes that place renames the file to
/// `….hit` and writes its process identifier into it. It then stops by SIGSTOP until it is continued or killed.
package enum Failpoint {
    /// Before or after a change of state.
    package enum Phase: String, Sendable, CaseIterable {
        case before, after
    }

    /// Ends the process by a trap if the file that the environment variable `MARTLET_TRAP` names contains exactly this text.
    package static func trap(_ subject: @autoclosure () -> String) {
        #if DEBUG
            guard let file = getenv("MARTLET_TRAP"),
                let wanted = try? WholeFile.read(String(cString: file), limit: 4096)
            else { return }
            if wanted == Array(subject().utf8) { raise(SIGILL) }
        #endif
    }

    /// Stops here if `MARTLET_FAILPOINT` names this place.
    package static func pass(_ name: String, _ phase: Phase) {
        #if DEBUG
            clinux_failpoint(name, phase.rawValue)
        #endif
    }
}
