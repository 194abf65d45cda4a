import CLinux
import Glibc

/// Who the daemon is, and what it does not keep.
enum ServiceIdentity {
    /// Started as root, becomes `user` before any file is opened and executes itself again; otherwise stays who it is.
    ///
    /// The thread that `main` began on has ended by now and keeps its identity, which the kernel shows as the process's and
    /// checks signals with. Executed again, all of the process is the user's.
    /// - Throws: `Failure` when there is no such user, or it is root by whatever name. Without a user named, root stays root.
    static func assume(user: String?) throws {
        guard geteuid() == 0, let user else { return }
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
        // This thread is one of a pool, and those take no signals; what is executed would inherit that.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        execv("/proc/self/exe", CommandLine.unsafeArgv)
        throw Failure(.software, "cannot start again as the user \(user): \(String(cString: strerror(errno)))")
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
