import CLinux
import Glibc

/// Who the daemon is, and what it does not keep.
enum ServiceIdentity {
    /// Started as root, becomes `user` before any file is opened; otherwise stays who it is.
    /// - Throws: `Failure` when there is no such user. Without a user named, root stays root.
    static func assume(user: String?) throws {
        guard geteuid() == 0, let user, user != "root" else { return }
        guard let entry = getpwnam(user) else {
            throw Failure(
                .configuration,
                "the settings say `user: \(user)`, and there is no such user; make it (deploy/install does) or name another"
            )
        }
        let (uid, gid) = (entry.pointee.pw_uid, entry.pointee.pw_gid)
        let home = String(cString: entry.pointee.pw_dir)
        guard initgroups(user, gid) == 0, setgid(gid) == 0, setuid(uid) == 0 else {
            throw Failure(.denied, "cannot become the user \(user): \(String(cString: strerror(errno)))")
        }
        setenv("HOME", home, 1)
        setenv("USER", user, 1)
        setenv("LOGNAME", user, 1)
    }

    /// Files for the service alone; no core dump and no ptrace, since secrets pass through; as many descriptors as the
    /// hard limit gives; a peer that is gone is an error of a call, not a signal.
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
