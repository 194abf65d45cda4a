import Basics
package import Model
package import Storage

/// Assigns a workspace to each job: `workspaces/<bot>/<configuration>/<domain>/<slot>`.
///
/// A slot is used by one job at a time, and keeps its build products between them, so that builds are incremental. Trust domains separate the
/// code that may be published from all other code. Within one, refs to which the bot file grants other secrets have separate workspaces,
/// `<domain>-<digest>`. A job runs what the previous job left in its workspace, and has its own secrets then.
package actor Workspaces {
    /// The trust domain of a workspace: the code that may run in it.
    package enum TrustDomain: String, Sendable {
        /// Refs with a publish or upload trigger.
        case release
        /// Every other ref of the bot's own repository.
        case trusted
        /// Pull requests whose head is a branch of the bot's own repository. Unmerged code does not run in the workspaces of merged code.
        case pull
        /// Pull requests of forks. Each has a workspace that is created for it and removed after it.
        case fork

        package init(_ integration: IntegrationRecord) {
            if let pull = integration.pull {
                self = pull.isTrusted ? .pull : .fork
            } else {
                self = integration.isRelease ? .release : .trusted
            }
        }

        /// Whether its jobs may have secrets. They may if only users who may push to the bot's own repository wrote the code.
        package var mayHaveSecrets: Bool {
            switch self {
            case .release, .trusted, .pull: true
            case .fork: false
            }
        }

        /// Returns the directory for those of its jobs that have the same secrets by the same rules of the bot file.
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
    /// Workspaces that no job uses and that may be in any state, because a job was lost in one of them. By bot and configuration.
    private var doubtful: [String: [Workspace]] = [:]

    package init(root: String) { self.root = root }

    /// Takes the lowest free slot, which is likely to have the newest build products.
    /// - Parameters:
    ///   - grants: The bot file's `secrets` for the job. If empty, the workspace is the usual one of the trust domain.
    ///   - work: The directory of a cluster's nodes for workspaces; `nil` for the machine's own.
    package func acquire(
        bot: Name, configuration: Name, domain: TrustDomain, grants: [JobSecret] = [], beneath work: String? = nil
    ) -> Workspace {
        let place = domain.directory(grants)
        var slot = 0
        while true {
            let path = "\(work ?? root)/\(bot)/\(configuration)/\(place)/\(slot)"
            if taken.insert(path).inserted { return Workspace(path: path) }
            slot += 1
        }
    }

    /// Takes the workspace that a job uses which still runs after a restart.
    package func reacquire(_ workspace: Workspace) { taken.insert(workspace.path) }

    /// Takes the free workspaces, because a job may have been lost in any of them. `acquireDoubtful` returns them for removal.
    /// - Parameter found: The workspaces of the bot's configuration on the disk.
    package func doubt(_ found: [Workspace], bot: Name, configuration: Name) {
        let new = found.filter { taken.insert($0.path).inserted }
        if !new.isEmpty { doubtful["\(bot)/\(configuration)", default: []] += new }
    }

    /// Returns the doubtful workspaces, once. The caller must release them.
    package func acquireDoubtful(bot: Name, configuration: Name) -> [Workspace] {
        doubtful.removeValue(forKey: "\(bot)/\(configuration)") ?? []
    }

    /// Takes the throwaway workspaces that an earlier daemon left, so that they can be removed. No job uses them any more.
    /// - Parameter found: The workspaces on the disk.
    /// - Returns: The throwaway ones that were free.
    package func acquireLeft(of found: [Workspace]) -> [Workspace] {
        found.filter { $0.isThrowaway && taken.insert($0.path).inserted }
    }

    /// Takes a free workspace, so that it can be removed.
    /// - Returns: Whether the caller now owns it.
    package func acquireIdle(_ workspace: Workspace) -> Bool { taken.insert(workspace.path).inserted }

    /// Releases a workspace.
    package func release(_ workspace: Workspace) { taken.remove(workspace.path) }
}

/// A workspace on the disk: the checked-out tree, and the records about it. The records are outside of the tree, where jobs cannot reach them.
package struct Workspace: Hashable, Sendable {
    package let path: String

    package init(path: String) { self.path = path }

    /// Creates the workspace of a tree, as the inverse of `tree`. `nil` if the path is not that of a tree.
    package init?(tree: String) {
        guard tree.hasSuffix("/tree") else { return nil }
        path = String(tree.dropLast("/tree".count))
    }

    /// Whether it is removed after its job. This applies to a fork's workspace, whose files must not reach another job, and to one that was moved
    /// aside.
    package var isThrowaway: Bool {
        let parts = path.split(separator: "/").suffix(2)
        return parts.first.map(String.init) == Workspaces.TrustDomain.fork.rawValue || parts.last?.first == "."
    }

    /// The checked-out tree, in which the job works.
    package var tree: String { path + "/tree" }
    /// The home of a sandboxed job, which exists while the job runs. It is beside the tree, so that no job can put a link in its place.
    package var home: String { path + "/\(Self.homeName)" }
    static let homeName = "home"
    /// The directory in which `SourceControl` stores the record of the checkout.
    package var state: String { path + "/checkout" }
    /// The file with the compiler's warnings about the build directory; see `WarningCache`.
    package var warnings: String { path + "/warnings.json" }
    /// The file with the path at which jobs see the tree, and the image. Both determine paths in build products.
    package var mounted: String { path + "/mounted" }
    /// The file with the time at which it was last emptied, for `clean: daily` and `weekly`.
    package var cleaned: String { path + "/cleaned" }
}
