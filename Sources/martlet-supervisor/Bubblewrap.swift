import Glibc
import JobProtocol

/// The program that makes fences.
enum Bubblewrap {
    static let missing = FenceFinding.bubblewrapMissing

    /// Not by PATH: a supervisor has none, and what fences a job is not to be chosen by an environment.
    static func path() -> String? {
        ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"].first { access($0, X_OK) == 0 }
    }
}
