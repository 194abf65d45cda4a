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
            reserve,
        ]
    }
    package var database: String { path + "/martlet.sqlite" }
    package var repositories: String { path + "/repositories" }
    package var workspaces: String { path + "/workspaces" }
    package var integrations: String { path + "/integrations" }
    package var staging: String { path + "/staging" }
    package var files: String { path + "/files" }
    /// The reserve that is released when the disk is full; see `DiskReserve`.
    var reserve: String { path + "/reserve" }
    /// Says whether files that are not synchronized can be trusted; see `BootRecord`.
    var boot: String { path + "/boot" }
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

    /// Creates the missing directories, and closes existing ones that an earlier version left open.
    ///
    /// The service's group is for a web server that serves published files by itself (deploy/nginx-files.conf). It passes through the state
    /// directory and `files/` without listing them, lists `public/`, and reads the directories of public products, which `PublicLinks` opens.
    /// Everything else (mirrors, workspaces, logs, reports) is only for the service's user.
    /// - Returns: The earlier mode of the state directory, if others had any access or its group could list or write it.
    /// - Throws: `FileError`, for instance when the disk is full or the directory belongs to another user.
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
                // Another user's directory, such as a disk's `lost+found`, is no reason not to start.
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

    /// Whether jobs' steps had a network of their own here, without the machine's loopback, in a start before.
    package var hadOwnNetwork: Bool { access(ownNetworkMark, F_OK) == 0 }

    /// Keeps it for the starts that come.
    /// - Throws: `FileError`, for instance when the disk is full.
    package func rememberOwnNetwork() throws(FileError) {
        guard !hadOwnNetwork else { return }
        let text =
            "Steps with the network had one of their own: without it the service starts only as the settings say.\n"
        try AtomicFile.write(Array(text.utf8), to: ownNetworkMark, mode: 0o600)
    }
}
