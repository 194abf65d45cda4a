import Glibc

/// Finds bubblewrap, the program that creates sandboxes.
enum Bubblewrap {
    /// Returns bubblewrap's path; `nil` if it is not installed. PATH is not used: the supervisor's environment is empty, and an environment must not
    /// decide which program sandboxes a job.
    static func path() -> String? {
        ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"].first { access($0, X_OK) == 0 }
    }
}
