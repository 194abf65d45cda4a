extension JobDescription {
    /// The view that a step has of the machine with `isolation: sandbox`. The root is read-only. The step can write only to the workspace, a private
    /// /tmp and the job's home.
    package struct Sandbox: Sendable, Equatable {
        /// The largest number of paths in `readOnly`.
        package static let pathLimit = 64

        /// The absolute path of a directory on disk that becomes /, such as an image directory. If it is `nil`, the root has the host's /usr and the
        /// few files of /etc that programs need.
        package var root: String?
        /// Further absolute paths of the host that are visible at the same place, such as the toolchain and what the operator lists. A path that
        /// leads to the job directory or the workspaces is refused.
        package var readOnly: [String]
        /// The value of HOME.
        package var home: String
        /// The absolute path of the host's directory that becomes the home of all steps of the job; its size counts with the workspace. If it is
        /// `nil`, each step gets a new home in memory. That is used for jobs with one step.
        package var homeDirectory: String?
        /// The size of /tmp in bytes. It is in memory and new for each step.
        package var temporaryBytes: Int64
        /// The size in bytes of a home in memory.
        package var homeBytes: Int64
        /// Whether a step with the network uses the host's network, and thereby reaches servers on the host's loopback. Otherwise it gets a separate
        /// network that cannot reach them. If the daemon does not state it, the host's network is used.
        package var sharesNetwork: Bool

        package init(
            root: String? = nil, readOnly: [String] = [], home: String = "/home/martlet",
            homeDirectory: String? = nil,
            temporaryBytes: Int64 = 2 << 30, homeBytes: Int64 = 1 << 30, sharesNetwork: Bool = true
        ) {
            self.root = root
            self.readOnly = readOnly
            self.home = home
            self.homeDirectory = homeDirectory
            self.temporaryBytes = temporaryBytes
            self.homeBytes = homeBytes
            self.sharesNetwork = sharesNetwork
        }
    }
}
