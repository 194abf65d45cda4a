import CLinux
import Glibc

/// A place at which tests stop this process, to kill it or another one there. A release build has none.
///
/// `MARTLET_FAILPOINT` names a file with a line `NAME PHASE`. The first process to pass that place renames the file to `….hit`, writes its process
/// identifier into it and stops by SIGSTOP, until it is continued or killed.
package enum Failpoint {
    /// On which side of a change of state.
    package enum Phase: String, Sendable, CaseIterable {
        case before, after
    }

    /// Ends the process by a trap where the environment's `MARTLET_TRAP` names a file that holds just this text.
    package static func trap(_ subject: @autoclosure () -> String) {
        #if DEBUG
            guard let file = getenv("MARTLET_TRAP"),
                let wanted = try? WholeFile.read(String(cString: file), limit: 4096)
            else { return }
            if wanted == Array(subject().utf8) { raise(SIGILL) }
        #endif
    }

    /// Passes a place.
    package static func pass(_ name: String, _ phase: Phase) {
        #if DEBUG
            clinux_failpoint(name, phase.rawValue)
        #endif
    }
}
