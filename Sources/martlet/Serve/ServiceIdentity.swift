import Basics
import CLinux
import Glibc
import Settings

/// The user that the daemon runs as, and the rights that it drops.
enum ServiceIdentity {
    /// The service's user if the settings name none; deploy/install creates it.
    static let usualUser = "martlet"

    /// The user that a program started by root becomes.
    private enum Choice {
        /// It was not started by root.
        case stays
        case becomes(String)
        /// Root keeps the settings or the bot files to itself and there is no user for the service: no other user could read them.
        case staysRoot
        /// A sentence with the reason and what to do.
        case refuses(String)
    }

    /// Decides which user the program runs as.
    /// - Parameter file: The path of the settings, whichever way it was found.
    private static func choice(_ settings: ServiceSettings, file: String) -> Choice {
        guard geteuid() == 0 else { return .stays }
        if let user = settings.user { return .becomes(user) }
        if getpwnam(usualUser) != nil { return .becomes(usualUser) }
        if isRootsAlone(file) || isRootsAlone(settings.bots + "/") { return .staysRoot }
        return .refuses(
            "root started this, the settings \(file) name no user, and there is no user \(usualUser); the service does not run as root: "
                + "write `user: NAME` into the settings, make the user (deploy/install does), or start it as another")
    }

    /// Returns whether a directory above a path belongs to root and is closed to everybody else.
    private static func isRootsAlone(_ path: String) -> Bool {
        var above = path
        while let slash = above.lastIndex(of: "/") {
            above = String(above[..<slash])
            // A missing directory does not count.
            let status = try? Directory(opening: above.isEmpty ? "/" : above).status(".")
            if let status, status.owner == 0, status.mode & 0o077 == 0 { return true }
        }
        return false
    }

    /// If started as root, becomes the service's user before any file of the service is opened, and executes the program again.
    ///
    /// The thread that `main` started on has ended by now and keeps root's identity. The kernel shows that identity as the process's and uses it to
    /// check signals. After executing again, the whole process has the user's identity.
    /// - Parameter file: The path of the settings.
    /// - Returns: Whether the program stays root.
    /// - Throws: `Failure` if there is no such user, or it is root under any name.
    static func assume(_ settings: ServiceSettings, file: String) throws -> Bool {
        switch choice(settings, file: file) {
        case .stays: return false
        case .staysRoot: return true
        case .refuses(let sentence): throw Failure(.configuration, sentence)
        case .becomes(let user): try become(user)
        }
        return false
    }

    /// Becomes the service's user for a command that works on the service's files beside the running service. If there is no such user, it continues
    /// as root.
    static func assumeIfThere(_ settings: ServiceSettings, file: String) throws {
        if case .becomes(let user) = choice(settings, file: file), getpwnam(user) != nil { try become(user) }
    }

    private static func become(_ user: String) throws {
        guard let entry = getpwnam(user) else {
            throw Failure(
                .configuration,
                "the settings say `user: \(user)`, and there is no such user; make it (deploy/install does) or name another"
            )
        }
        let (uid, gid) = (entry.pointee.pw_uid, entry.pointee.pw_gid)
        guard uid != 0 else {
            throw Failure(
                .configuration, "the settings say `user: \(user)`, which is root by another name; name another user")
        }
        let home = String(cString: entry.pointee.pw_dir)
        guard initgroups(user, gid) == 0, setgid(gid) == 0, setuid(uid) == 0 else {
            throw Failure(.denied, "cannot become the user \(user): \(String(cString: strerror(errno)))")
        }
        setenv("HOME", home, 1)
        setenv("USER", user, 1)
        setenv("LOGNAME", user, 1)
        // This thread belongs to a pool whose threads block signals. The executed program would inherit that.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        execv("/proc/self/exe", CommandLine.unsafeArgv)
        throw Failure(.software, "cannot start again as the user \(user): \(String(cString: strerror(errno)))")
    }

    /// Hardens the process. New files are closed to others. Core dumps and ptrace are disabled, because secrets pass through the process. The limit
    /// of descriptors is raised to the hard limit. Writing to a closed connection is an error instead of a signal.
    static func harden() {
        umask(0o027)
        signal(SIGPIPE, SIG_IGN)
        _ = clinux_hide_memory()
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            limit.rlim_cur = limit.rlim_max
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
    }
}
