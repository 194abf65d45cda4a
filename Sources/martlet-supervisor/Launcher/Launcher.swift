import CLinux
import Glibc
import JobProtocol
import Processes

/// Starts supervisors and nothing else. All of its state is on disk and in the kernel, so it can be killed at any time.
struct Launcher {
    /// How often, in milliseconds, the control groups of killed supervisors are looked for. A supervisor's death goes unnoticed if it was the child
    /// of an earlier launcher. The interval ensures that no process of a job remains after 15 s.
    private static let careMilliseconds: Int64 = 10_000
    /// systemd passes sockets from this descriptor on (sd_listen_fds(3)).
    private static let firstPassedDescriptor: Int32 = 3

    /// How long the launcher runs.
    enum Lifetime {
        /// Until SIGTERM.
        case own
        /// The launcher runs in the background; `run` returns as soon as it, or another launcher, listens. No other process would end it. It
        /// therefore ends when it is not used any more (`LauncherUse`), or when it cannot be reached because its directory was removed.
        case detached
        /// The launcher runs as long as standard input is open. It kills everything it started before it ends, so that nothing outlives the process
        /// that started it, however that ended.
        case attached
    }

    let socket: String
    let lifetime: Lifetime
    /// How long a detached launcher waits, in milliseconds, without a job and without a living client.
    var idleLimit: Int64 = 300_000

    func run() -> Int32 {
        clinux_hide_memory()
        if isPassed { return serve(Self.firstPassedDescriptor) }
        switch lifetime {
        case .own: return listen { _ in }
        case .detached: return detach()
        case .attached:
            return listen { failure in
                Console.own.say(failure.map { $0 + "\n" } ?? "listening\n")
            }
        }
    }

    private var isPassed: Bool {
        guard let process = getenv("LISTEN_PID"), let count = getenv("LISTEN_FDS") else { return false }
        return Int32(String(cString: process)) == getpid() && String(cString: count) == "1"
    }

    /// The lock decides which process listens, so that two daemons that start a launcher at the same time get one.
    private func listen(report: (String?) -> Void) -> Int32 {
        let lock = clinux_open(socket + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else {
            report("open \(socket).lock failed: \(SystemError(number: errno).text)")
            return EX_CANTCREAT
        }
        guard take(lock) else {
            guard lifetime == .attached else {
                awaitListening()
                report(nil)
                return 0
            }
            report("another launcher holds \(socket).lock")
            return EX_UNAVAILABLE
        }
        ftruncate(lock, 0)
        _ = Descriptor.writeAll(Array(LockContent.ofThisProcess().text.utf8), to: lock)
        do throws(JobProtocolError) {
            let descriptor = try UnixSocket.listen(socket)
            report(nil)
            let status = serve(descriptor, lock: lock)
            if isOurs(lock) { unlink(socket) }
            return status
        } catch {
            Console.own.complain("\(error)")
            report("\(error)")
            return EX_CANTCREAT
        }
    }

    /// Returns whether the lock file is still the one at the path. If the directory was removed and created again, another launcher may be listening
    /// there.
    private func isOurs(_ lock: Int32) -> Bool {
        var (held, named) = (stat(), stat())
        return fstat(lock, &held) == 0 && stat(socket + ".lock", &named) == 0 && held.st_ino == named.st_ino
            && held.st_dev == named.st_dev
    }

    /// Waits until the launcher that holds the lock is listening.
    private func awaitListening() {
        let deadline = Time.monotonicMilliseconds() + Descendants.patienceMilliseconds
        while Time.monotonicMilliseconds() < deadline {
            do throws(JobProtocolError) {
                close(try UnixSocket.connect(socket))
                return
            } catch {
                poll(nil, 0, 5)
            }
        }
    }

    /// Locks the file. An attached launcher belongs to one process, so it waits for an earlier one, which may still be killing its processes.
    private func take(_ lock: Int32) -> Bool {
        let deadline = Time.monotonicMilliseconds() + Descendants.patienceMilliseconds
        while clinux_flock(lock, LOCK_EX | LOCK_NB) != 0 {
            guard lifetime == .attached, Time.monotonicMilliseconds() < deadline else { return false }
            poll(nil, 0, 20)
        }
        return true
    }

    /// Continues in the background after two forks and in a new session. Neither the end of the daemon nor that of its terminal then reaches it.
    private func detach() -> Int32 {
        var pipe: [Int32] = [-1, -1]
        guard clinux_pipe(&pipe) == 0 else { return EX_OSERR }
        let child = clinux_fork()
        if child == 0 {
            setsid()
            if clinux_fork() != 0 { _exit(0) }
            close(pipe[0])
            chdir("/")
            let null = clinux_open("/dev/null", O_RDWR, 0)
            for number: Int32 in 0...2 { dup2(null, number) }
            clinux_fcntl(pipe[1], F_DUPFD, 3)
            closeAll(but: pipe[1])
            _exit(
                listen { failure in
                    _ = Descriptor.writeAll(Array((failure ?? "ok").utf8), to: pipe[1])
                    close(pipe[1])
                })
        }
        close(pipe[1])
        guard child > 0 else { return EX_OSERR }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        clinux_fcntl(pipe[0], F_SETFL, 0)
        let answer = String(decoding: SmallFile.read(pipe[0], limit: 4096) ?? [], as: UTF8.self)
        if answer == "ok" { return 0 }
        Console.own.complain(answer.isEmpty ? "the launcher ended before it listened" : answer)
        return EX_UNAVAILABLE
    }

    private func closeAll(but kept: Int32) {
        if kept > 3 { clinux_close_range(3, UInt32(kept - 1), 0) }
        clinux_close_range(UInt32(kept + 1), .max, 0)
    }

    /// - Parameter lock: The socket's lock; `nil` if a service manager passed the socket.
    private func serve(_ listening: Int32, lock: Int32? = nil) -> Int32 {
        // Processes that a killed supervisor leaves behind become children of the launcher.
        clinux_adopt_orphans()
        ControlGroupPlace.prepare()
        if lifetime != .attached { ControlGroupPlace.yieldProcessors() }
        let groups = ControlGroupPlace.find()
        groups?.removeAbandoned()
        clinux_fcntl(listening, F_SETFD, FD_CLOEXEC)
        clinux_fcntl(listening, F_SETFL, O_NONBLOCK)
        let signals = Signals()
        let pool = SupervisorPool(isAttached: lifetime == .attached)
        var use = LauncherUse(limit: idleLimit)
        let pause = lifetime == .detached ? max(100, min(Self.careMilliseconds, idleLimit)) : Self.careMilliseconds
        var careAt = Time.monotonicMilliseconds() + pause
        while true {
            // Checked in every round, however busy the launcher is.
            let now = Time.monotonicMilliseconds()
            if now >= careAt {
                groups?.removeAbandoned()
                careAt = now + pause
                let isReachable = lock.map(isOurs) ?? true
                if lifetime == .detached, use.isOver(now: now, hasJobs: pool.hasJobs, isReachable: isReachable) {
                    return 0
                }
            }
            var sources = [
                pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: listening, events: Int16(POLLIN), revents: 0),
                // poll(2) ignores a negative descriptor.
                pollfd(fd: lifetime == .attached ? 0 : -1, events: Int16(POLLIN), revents: 0),
            ]
            let (refill, care) = (pool.refillTimeout, Int32(clamping: careAt - now))
            if poll(&sources, 3, refill < 0 ? care : min(refill, care)) == 0 {
                if refill >= 0, refill <= care { pool.refill() }
                continue
            }
            if sources[2].revents != 0 { return end(groups) }
            if sources[0].revents != 0 {
                signals.read()
                let dead = Descendants.reap().ended.map(\.pid)
                pool.remove(dead)
                if !dead.isEmpty {
                    pool.remove(killOrphans(except: pool.processes))
                    groups?.removeAbandoned()
                }
                if signals.isTerminationRequested { return end(groups) }
            }
            guard sources[1].revents != 0 else { continue }
            let client = accept(listening, nil, nil)
            guard client >= 0 else {
                // For errors such as EMFILE: the client stays in the queue, and the pause avoids a busy loop.
                if errno != EAGAIN && errno != EINTR && errno != ECONNABORTED { poll(nil, 0, 100) }
                continue
            }
            clinux_fcntl(client, F_SETFD, FD_CLOEXEC)
            use.record(client: clinux_peer_process(client))
            LaunchClient(descriptor: client, pool: pool).answer()
            close(client)
        }
    }

    private func end(_ groups: ControlGroupPlace?) -> Int32 {
        guard lifetime == .attached else { return 0 }
        let isEmpty = Descendants.killAll().isEmpty
        groups?.removeAbandoned()
        return isEmpty ? 0 : EX_SOFTWARE
    }

    /// Kills processes without a supervisor. A supervisor that ends properly leaves none. Processes of a killed supervisor must not continue in a
    /// workspace.
    /// - Returns: All children of the launcher that have ended meanwhile.
    private func killOrphans(except supervisors: Set<Int32>) -> [Int32] {
        // Orphans become children of the launcher. It is therefore almost always enough to check its few children instead of every process of the
        // machine (proc(5), children; `nil` if the kernel was built without it).
        if let children = ProcessTable.children(), supervisors.isSuperset(of: children) { return [] }
        var ended: [Int32] = []
        for _ in 0..<100 {
            let living = supervisors.subtracting(ended)
            guard !ProcessTable.descendants(of: getpid(), except: living).isEmpty else { break }
            Descendants.signal(SIGKILL, except: living)
            ended += Descendants.reap().ended.map(\.pid)
            poll(nil, 0, 5)
        }
        return ended
    }
}
