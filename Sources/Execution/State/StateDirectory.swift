package import Basics
import Glibc
package import Model

/// The paths of all files that survive a restart (docs/internals/state-directory.md). A change to a path here requires a migration of users' data.
package struct StateDirectory: Sendable {
    /// The absolute path, without a slash at its end.
    package let path: String

    package init(path: String) { self.path = path }

    /// The paths in it that belong to the service and that no job may see.
    package var parts: [String] {
        [
            database, repositories, workspaces, integrations, staging, files, lock, launcherSocket, serviceSocket,
            reserve, nodes,
        ]
    }
    package var database: String { path + "/martlet.sqlite" }
    package var repositories: String { path + "/repositories" }
    package var workspaces: String { path + "/workspaces" }
    package var integrations: String { path + "/integrations" }
    /// Records about the workspaces of clusters' nodes.
    package var nodes: String { path + "/nodes" }
    package var staging: String { path + "/staging" }
    package var files: String { path + "/files" }
    /// The directory of the reserve that is released when the disk is full; see `DiskReserve`.
    package var reserve: String { path + "/reserve" }
    /// The file that states whether files that are not synchronized can be trusted; see `BootRecord`.
    package var boot: String { path + "/boot" }
    /// The file that is locked by the one daemon that works on this state.
    package var lock: String { path + "/lock" }
    /// The file that exists while a backup is being restored. A daemon does not start then.
    package var restoring: String { path + "/restoring" }
    package var launcherSocket: String { path + "/launcher.socket" }
    package var serviceSocket: String { path + "/martlet.socket" }
    /// The file that exists once jobs' steps have had a network of their own.
    private var ownNetworkMark: String { path + "/own-network" }

    /// Returns `integrations/<bot>/<number>`. Each configuration has a directory of its name there. Other files there have names that begin with `_`,
    /// as no configuration's does, so that a recipe can only use the directories of its jobs.
    package func integration(_ id: IntegrationID) -> String { "\(integrations)/\(id.bot)/\(id.number)" }

    /// Returns the directory for a trigger's job directories and its other files, `integrations/<bot>/<number>/_trigger-<name>`. It is relative to
    /// the state directory, as it is stored.
    package static func trigger(_ trigger: Name, of id: IntegrationID) -> String {
        "integrations/\(id.bot)/\(id.number)/\(triggerPrefix)\(trigger)"
    }

    /// The prefix of the names of triggers' directories, and of the addresses of their logs.
    package static let triggerPrefix = "_trigger-"

    /// Returns the file of the request to cancel an integration: `integrations/<bot>/<number>/_cancel`.
    package func cancellationRequest(_ id: IntegrationID) -> String { integration(id) + "/_cancel" }

    /// Returns the job directory of one attempt: `integrations/<bot>/<number>/<job>/<attempt>`.
    package func attempt(_ id: IntegrationID, job: Name, attempt: Int) -> String {
        "\(integration(id))/\(job)/\(attempt)"
    }

    /// Creates the missing directories, and restricts the access to existing ones that an earlier version left open.
    ///
    /// The service's group is for a web server that serves published files by itself (deploy/nginx-files.conf). It passes through the state directory
    /// and `files/` without listing them, lists `public/`, and reads the directories of public products, which `PublicLinks` opens. Only the
    /// service's user can access everything else (mirrors, workspaces, logs, reports).
    /// - Returns: The earlier mode of the state directory, if others had any access or its group could list or write it; `nil` otherwise.
    /// - Throws: `FileError`, for example if the disk is full or the directory belongs to another user.
    @discardableResult package func create() throws(FileError) -> UInt16? {
        let root = try Directory(creating: path, mode: Self.passed)
        let mode = try root.status(".")?.mode ?? Self.passed
        let isOpen = mode & 0o777 & ~Self.passed != 0
        if isOpen { try root.setMode(mode & (0o7000 | Self.passed), ofDirectory: ".") }
        for name in ["repositories", "workspaces", "integrations", "staging"] {
            try root.makeDirectories(name, mode: 0o700)
        }
        try root.makeDirectories(Self.published, mode: Self.passed)
        for entry in try root.entries() where entry.kind == .directory && entry.name != Self.linked {
            let allowed = entry.name == Self.published ? Self.passed : 0o700
            do throws(FileError) {
                guard let mode = try root.status(entry.bytes)?.mode, mode & 0o777 & ~allowed != 0 else { continue }
                try root.setMode(mode & (0o7000 | allowed), ofDirectory: entry.bytes)
            } catch {
                // A directory of another user, such as a disk's `lost+found`, does not prevent the start.
                guard parts.contains("\(path)/\(entry.name)") else { continue }
                throw error
            }
        }
        return isOpen ? mode : nil
    }

    /// The mode of a directory that the group passes through and does not list.
    private static let passed: UInt16 = 0o710
    /// The directories that another web server passes through: published files, and links to the public ones.
    private static let (published, linked) = ("files", "public")

    /// Whether jobs' steps had a network of their own here, without the machine's loopback, in an earlier start.
    package var hadOwnNetwork: Bool { access(ownNetworkMark, F_OK) == 0 }

    /// Records for later starts that steps have a network of their own.
    /// - Throws: `FileError`, for example if the disk is full.
    package func rememberOwnNetwork() throws(FileError) {
        guard !hadOwnNetwork else { return }
        let text =
            "Steps with the network had a network of their own. Without it the service starts only if the settings allow it.\n"
        try AtomicFile.write(Array(text.utf8), to: ownNetworkMark, mode: 0o600)
    }
}
