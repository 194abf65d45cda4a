extension JobDescription {
    /// What a step sees of the machine with `isolation: sandbox`: its root, read-only, and in it the workspace, a private
    /// /tmp and the job's home, which are all that it can write.
    package struct Fence: Sendable, Equatable {
        /// The most paths of `readOnly`.
        package static let pathLimit = 64

        /// The absolute path of a root file system on disk, an image directory, that is /; nothing: a root with the host's
        /// /usr and the few files of /etc that programs need.
        package var root: String?
        /// More of the host, absolute paths, seen at the same place: the toolchain, what the machine's owner lists. One that
        /// leads to the job directory or the workspaces is refused.
        package var readOnly: [String]
        /// Where HOME is.
        package var home: String
        /// The absolute path of the directory of the machine that is the home of all of the job's steps; it counts with the workspace. `nil`: the
        /// home is in memory and made anew for each step, as of a job with one step.
        package var homeDirectory: String?
        /// The size of /tmp, in memory, made anew for each step.
        package var temporaryBytes: Int64
        /// The size of a home in memory.
        package var homeBytes: Int64
        /// Whether a step that has the network has the host's own, and with it what listens on the host's loopback; else one of its own,
        /// out of which the host's loopback cannot be reached. A daemon that does not say means the host's.
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
