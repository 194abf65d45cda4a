import Archives
import Basics
package import Model
package import Storage

/// Gives each job a workspace of its own: `workspaces/<bot>/<configuration>/<lane>/<slot>`.
///
/// A slot is used by one job at a time and kept warm between them, so that an incremental build stays incremental.
/// Lanes keep what may be published apart from everything else that ran on the machine. Of a lane, refs that the bot file gives other
/// secrets have workspaces of their own, `<lane>-<digest>`: what a job leaves in one is run by the next, with that one's secrets.
package actor Workspaces {
    /// Whose code ran in a workspace before.
    package enum Lane: String, Sendable {
        /// Refs with a publish or upload trigger.
        case release
        /// Every other ref of the bot's own repository.
        case trusted
        /// Pull requests whose head is a branch of the bot's own repository: unmerged code does not run in the workspaces of merged code.
        /// workspaces of what is.
        case pull
        /// Pull requests of forks, each in a workspace that is made for it and removed after it.
        case fork

        package init(_ integration: IntegrationRecord) {
            if let pull = integration.pull {
                self = pull.isTrusted ? .pull : .fork
            } else {
                self = integration.isRelease ? .release : .trusted
            }
        }

        /// Whether jobs in it may have secrets: the authors of what they run may push to the bot's own repository.
        package var mayHaveSecrets: Bool {
            switch self {
            case .release, .trusted, .pull: true
            case .fork: false
            }
        }

        /// The directory of those jobs of it that have the same secrets by the same words of the bot file.
        func directory(_ grants: [JobSecret]) -> String {
            guard mayHaveSecrets, !grants.isEmpty else { return rawValue }
            let words = grants.map { grant -> String in
                let configurations = grant.configurations?.map(\.description) ?? ["*"]
                let steps = grant.steps?.map(\.description) ?? ["*"]
                let (branches, tags) = (grant.branches.map(\.description), grant.tags.map(\.description))
                return "\([[grant.name], configurations, steps, branches, tags])"
            }
            let digest = Digest.sha256(of: Array(words.sorted().joined(separator: "\n").utf8))
            return "\(rawValue)-\(digest.prefix(16))"
        }
    }

    private let root: String
    private var taken: Set<String> = []
    /// Taken by nobody's job, by bot and configuration: a job that was lost may have left one of them in any state.
    private var doubtful: [String: [Workspace]] = [:]

    package init(root: String) { self.root = root }

    /// Takes the lowest free slot, which is the warmest.
    /// - Parameter grants: What of the bot file's `secrets` is for the job; without any it is the lane's usual workspace.
    package func take(bot: Name, configuration: Name, lane: Lane, grants: [JobSecret] = []) -> Workspace {
        let place = lane.directory(grants)
        var slot = 0
        while true {
            let path = "\(root)/\(bot)/\(configuration)/\(place)/\(slot)"
            if taken.insert(path).inserted { return Workspace(path: path) }
            slot += 1
        }
    }

    /// Takes the very workspace that a job, found running after a restart, is using.
    package func retake(_ workspace: Workspace) { taken.insert(workspace.path) }

    /// Takes those that nobody has taken, since a job may have been lost in any of them; `takeDoubtful` hands them out to be removed.
    /// - Parameter found: The workspaces of the bot's configuration that lie on the disk.
    package func doubt(_ found: [Workspace], bot: Name, configuration: Name) {
        let new = found.filter { taken.insert($0.path).inserted }
        if !new.isEmpty { doubtful["\(bot)/\(configuration)", default: []] += new }
    }

    /// Returns the doubtful workspaces, once; the caller gives them back.
    package func takeDoubtful(bot: Name, configuration: Name) -> [Workspace] {
        doubtful.removeValue(forKey: "\(bot)/\(configuration)") ?? []
    }

    /// Takes the throwaway workspaces that a daemon before this one left, so that they can be removed: no job uses them any more.
    /// - Parameter found: Those that lie on the disk.
    /// - Returns: Those of them that nobody has taken.
    package func takeLeft(of found: [Workspace]) -> [Workspace] {
        found.filter { $0.isThrowaway && taken.insert($0.path).inserted }
    }

    /// Takes an unused workspace, so that it can be removed.
    /// - Returns: Whether the caller now owns it.
    func takeIdle(_ workspace: Workspace) -> Bool { taken.insert(workspace.path).inserted }

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

    /// Whether it is removed after its job: a fork's files must not reach another job, nor those that were moved aside.
    package var isThrowaway: Bool {
        let parts = path.split(separator: "/").suffix(2)
        return parts.first.map(String.init) == Workspaces.Lane.fork.rawValue || parts.last?.first == "."
    }

    /// The checkout, in which the job works.
    package var tree: String { path + "/tree" }
    /// The home of a sandboxed job, there while it runs. It is beside the tree, so that no job can put a link in its place.
    package var home: String { path + "/\(Self.homeName)" }
    static let homeName = "home"
    /// What `SourceControl` remembers of the checkout.
    package var state: String { path + "/checkout" }
    /// What the build directory's compiled files were warned about; see `WarningMemory`.
    package var warnings: String { path + "/warnings.json" }
    /// Where jobs see the tree, and in which image: paths that are in what they built.
    package var mounted: String { path + "/mounted" }
    /// When it was last emptied, for `clean: daily` and `weekly`.
    package var cleaned: String { path + "/cleaned" }
}
