package import Basics
import Glibc
package import Model

/// Where everything lies that survives a restart (docs/manual.md, "Installation"). Changing a path here means moving people's
/// data.
package struct StateDirectory: Sendable {
    /// Absolute, without a slash at its end.
    package let path: String

    package init(path: String) { self.path = path }

    /// What in it is the service's own, and no job's to see.
    var parts: [String] {
        [
            database, repositories, workspaces, integrations, staging, files, lock, launcherSocket, serviceSocket,
        ]
    }
    package var database: String { path + "/martlet.sqlite" }
    package var repositories: String { path + "/repositories" }
    package var workspaces: String { path + "/workspaces" }
    package var integrations: String { path + "/integrations" }
    package var staging: String { path + "/staging" }
    package var files: String { path + "/files" }
    /// Held by the one daemon that works on this state.
    package var lock: String { path + "/lock" }
    package var launcherSocket: String { path + "/launcher.socket" }
    package var serviceSocket: String { path + "/martlet.socket" }
    /// There once jobs' steps had a network of their own.
    private var ownNetworkMark: String { path + "/own-network" }

    /// `integrations/<bot>/<number>`. Each configuration has a directory there that is called as it is; what else lies there begins with
    /// `_`, as no name does, so that a recipe can take no place but its jobs'.
    package func integration(_ id: IntegrationID) -> String { "\(integrations)/\(id.bot)/\(id.number)" }

    /// Where a trigger's job directories lie, and what it keeps besides: `integrations/<bot>/<number>/_trigger-<name>`, relative to the
    /// state directory, as it is stored.
    package static func trigger(_ trigger: Name, of id: IntegrationID) -> String {
        "integrations/\(id.bot)/\(id.number)/\(triggerPrefix)\(trigger)"
    }

    /// What the names of triggers' directories begin with, and addresses of their logs.
    package static let triggerPrefix = "_trigger-"

    /// The wish to cancel an integration: `integrations/<bot>/<number>/_cancel`.
    package func wish(_ id: IntegrationID) -> String { integration(id) + "/_cancel" }

    /// The job directory of one attempt: `integrations/<bot>/<number>/<job>/<attempt>`.
    package func attempt(_ id: IntegrationID, job: Name, attempt: Int) -> String {
        "\(integration(id))/\(job)/\(attempt)"
    }

    /// Makes the directories that are missing, and takes from others what they may do in one that is there.
    /// - Returns: The mode that it had, where others could read it or its group could write in it.
    /// - Throws: `FileError`, for instance when the disk is full or the directory belongs to somebody else.
    @discardableResult package func create() throws(FileError) -> UInt16? {
        let root = try Directory(creating: path, mode: 0o750)
        let mode = try root.status(".")?.mode ?? 0o750
        let isOpen = mode & 0o027 != 0
        if isOpen, chmod(path, mode_t(mode & 0o7750)) != 0 {
            throw FileError(operation: "keep others out of", path: path, errno: errno)
        }
        for name in ["repositories", "workspaces", "integrations", "staging", "files"] {
            try root.makeDirectories(name, mode: 0o750)
        }
        return isOpen ? mode : nil
    }

    /// Whether jobs' steps had a network of their own here, without the machine's loopback, in a start before.
    package var hadOwnNetwork: Bool { access(ownNetworkMark, F_OK) == 0 }

    /// Keeps it for the starts that come.
    /// - Throws: `FileError`, for instance when the disk is full.
    package func rememberOwnNetwork() throws(FileError) {
        guard !hadOwnNetwork else { return }
        let text =
            "Steps with the network had one of their own: without it the service starts only as the settings say.\n"
        try AtomicFile.write(Array(text.utf8), to: ownNetworkMark, mode: 0o640)
    }
}
