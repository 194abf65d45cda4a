import Basics
package import Model

/// Gives each job a workspace of its own: `workspaces/<bot>/<configuration>/<lane>/<slot>`.
///
/// A slot is used by one job at a time and kept warm between them, so that an incremental build stays incremental.
/// Lanes keep what may be published apart from everything else that ran on the machine.
package actor Workspaces {
    /// Who may have written in a workspace before.
    package enum Lane: String, Sendable {
        /// Refs with a publish or upload trigger.
        case release
        /// Every other ref of the bot's own repository.
        case trusted

        /// Whether jobs in it may have secrets: whoever wrote what they run may push to the bot's own repository. A lane of
        /// pull requests from forks, which there is none of yet, must answer no: a case more does not compile before it does.
        package var mayHaveSecrets: Bool {
            switch self {
            case .release, .trusted: true
            }
        }
    }

    private let root: String
    private var taken: Set<String> = []

    package init(root: String) { self.root = root }

    /// Takes the lowest free slot, which is the warmest.
    package func take(bot: Name, configuration: Name, lane: Lane) -> Workspace {
        var slot = 0
        while true {
            let path = "\(root)/\(bot)/\(configuration)/\(lane.rawValue)/\(slot)"
            if taken.insert(path).inserted { return Workspace(path: path) }
            slot += 1
        }
    }

    /// Takes the very workspace that a job, found running after a restart, is using.
    package func retake(_ workspace: Workspace) { taken.insert(workspace.path) }

    /// Gives it back.
    package func giveBack(_ workspace: Workspace) { taken.remove(workspace.path) }
}

/// One workspace on disk: the checked-out tree and, outside of it and so out of a job's reach, what is known about it.
package struct Workspace: Hashable, Sendable {
    package let path: String

    package init(path: String) { self.path = path }

    /// The workspace whose tree this is: the inverse of `tree`.
    package init?(tree: String) {
        guard tree.hasSuffix("/tree") else { return nil }
        path = String(tree.dropLast("/tree".count))
    }

    /// The checkout, in which the job works.
    package var tree: String { path + "/tree" }
    /// What `SourceControl` remembers of the checkout.
    package var state: String { path + "/checkout" }
    /// What the build directory's compiled files were warned about; see `WarningMemory`.
    package var warnings: String { path + "/warnings.json" }
    /// Where jobs see the tree, and in which image: paths that are in what they built.
    package var mounted: String { path + "/mounted" }
    /// When it was last emptied, for `clean: daily` and `weekly`.
    package var cleaned: String { path + "/cleaned" }
}
