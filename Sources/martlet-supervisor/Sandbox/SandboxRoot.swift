import CLinux
import Glibc
import JobProtocol

/// The part of a sandbox's root that all steps share, as options of bubblewrap.
struct SandboxRoot {
    let sandbox: JobDescription.Sandbox
    let job: JobDescription
    /// The job directory.
    let attempt: String
    /// Whether the job runs as root without capabilities. It may still write files that root owns.
    let isRoot: Bool

    /// Directories in / that are links into /usr on most current systems.
    private static let topDirectories = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"]

    /// Returns the options.
    /// - Parameter git: Whether the workspace has a `.git` that the service made. A job may only read it.
    func options(git: Bool) throws(Sandbox.Failure) -> [String] {
        let readOnly = try readOnlyBinds()
        var options = [
            "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup", "--uid",
            "\(Sandbox.user)", "--gid", "\(Sandbox.user)", "--hostname", Sandbox.hostName, "--die-with-parent",
            "--new-session",
            "--as-pid-1", "--cap-drop", "ALL", "--seccomp", "\(SandboxProcess.filterDescriptor)",
        ]
        if let root = sandbox.root {
            let shown = Dictionary(grouping: readOnly) { Self.isDirectory($0.from) }.mapValues { $0.map(\.to) }
            options += try ImageRoot(path: root).options(
                directories: ["/proc", "/dev", "/tmp", sandbox.home, job.mountedAt] + MachineFiles.processors
                    + (shown[true] ?? []),
                files: SandboxFiles.places + (shown[false] ?? []))
            options += MachineFiles.parents(of: MachineFiles.processors).flatMap { ["--dir", $0] }
            for path in MachineFiles.processors { options += ["--ro-bind", path, path] }
        } else {
            options += Self.hostRoot()
        }
        options += ["--proc", "/proc", "--dev", "/dev"]
        // For /proc/sys and /proc/sysrq-trigger the kernel requires the user root, not a capability.
        if isRoot { options += ["--remount-ro", "/proc"] }
        // The writable part of /dev would otherwise be memory without a limit of its own.
        options += ["--perms", "1777", "--size", "\(sandbox.temporaryBytes)", "--tmpfs", "/dev/shm"]
        options += ["--remount-ro", "/dev"]
        options += ["--perms", "1777", "--size", "\(sandbox.temporaryBytes)", "--tmpfs", "/tmp"]
        for place in [sandbox.home, job.mountedAt] { options += Self.directories(above: place) }
        if let directory = sandbox.homeDirectory {
            options += ["--bind", directory, sandbox.home]
        } else {
            options += ["--perms", "0700", "--size", "\(sandbox.homeBytes)", "--tmpfs", sandbox.home]
        }
        for bind in readOnly { options += ["--ro-bind", bind.from, bind.to] }
        options += ["--bind", job.workspace, job.mountedAt]
        if git { options += ["--ro-bind", job.workspace + "/.git", job.mountedAt + "/.git"] }
        return options + ["--chdir", "/"]
    }

    private static func hostRoot() -> [String] {
        let mounted = MachineFiles.mounted
        let files = MachineFiles.copied.map { "/etc/" + $0 }
        // These precede the files in them, because bubblewrap would otherwise create them for their owner only.
        var options =
            (MachineFiles.parents(of: files + mounted) + ["/var", "/run"]).flatMap { ["--dir", $0] }
            + ["--ro-bind", "/usr", "/usr"]
        for name in topDirectories {
            if let target = link("/" + name) {
                options += ["--symlink", target, "/" + name]
            } else {
                options += ["--ro-bind-try", "/" + name, "/" + name]
            }
        }
        for path in mounted { options += ["--ro-bind", path, path] }
        if let zone = MachineFiles.timeZone { options += ["--symlink", zone, "/etc/localtime"] }
        for (target, path) in [
            ("../usr/lib/os-release", "/etc/os-release"), ("../tmp", "/var/tmp"), ("../run", "/var/run"),
            ("../proc/self/mounts", "/etc/mtab"),
        ] { options += ["--symlink", target, path] }
        return options
    }

    private static func directories(above path: String) -> [String] {
        var above = ""
        return path.split(separator: "/").dropLast().flatMap { part in
            above += "/" + part
            return ["--dir", above]
        }
    }

    /// Returns the read-only binds. A path that is a link is bound under both names, because programs use either.
    private func readOnlyBinds() throws(Sandbox.Failure) -> [(from: String, to: String)] {
        var binds: [(from: String, to: String)] = []
        // The resolved paths are included, because a state directory can be a link.
        let hidden =
            [job.workspace, attempt, sandbox.homeDirectory].compactMap(\.self).flatMap {
                [$0, Self.realPath($0) ?? $0]
            }
            + ["/proc", "/dev"]
        for path in sandbox.readOnly {
            guard let real = Self.realPath(path) else {
                throw Sandbox.Failure(reason: "\(path), which the sandbox shows read-only, is not there")
            }
            for name in [path, real] {
                if let hidden = hidden.first(where: { Self.leads(name, to: $0) }) {
                    throw Sandbox.Failure(reason: "\(path) must not be shown in a sandbox: it leads to \(hidden)")
                }
                let isThere = sandbox.root == nil && name.hasPrefix("/usr/") || binds.contains { $0.to == name }
                if !isThere { binds.append((real, name)) }
            }
        }
        return binds
    }

    /// Returns whether the first path is the second, or contains it.
    private static func leads(_ path: String, to other: String) -> Bool {
        path == other || other.hasPrefix(path == "/" ? "/" : path + "/") || other == "/dev" && path.hasPrefix("/dev/")
            || other == "/proc" && path.hasPrefix("/proc/")
    }

    static func realPath(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    static func link(_ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = readlink(path, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
    }
}
