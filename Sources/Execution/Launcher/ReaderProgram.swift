import CLinux
import Glibc
import Synchronization

/// The program `martlet-reader`: a separate process that reads the files that a job left. It has limits, and no access to files, network, environment
/// and secrets.
///
/// It runs for one conversation. Its answer is as untrusted as the bytes that it reads.
package struct ReaderProgram: Sendable {
    /// The limits of a run.
    package struct Limits: Sendable, Hashable {
        /// The limit of address space, in bytes. The largest accepted report needs a quarter.
        package var memory: Int64 = 1 << 30
        /// The limit of processor time. The largest accepted report needs some seconds.
        package var processor: Duration = .seconds(120)
        /// The limit of elapsed time, generous for a busy machine.
        package var patience: Duration = .seconds(600)

        package init() {}
    }

    /// How a run ended.
    package enum End: Sendable, Equatable {
        case exited(Int32)
        case signaled(Int32)
        /// It was ended because it took longer than its limit.
        case late
    }

    /// A request to end runs, from another thread. Reading a job's files may take minutes, but the daemon must stop within seconds.
    package final class Stop: Sendable {
        private let isRequested = Atomic(false)

        package init() {}

        /// Ends the runs in progress, and later ones as soon as they start.
        package func request() { isRequested.store(true, ordering: .relaxed) }

        fileprivate func check() throws {
            if isRequested.load(ordering: .relaxed) { throw CancellationError() }
        }
    }

    /// The result of a run.
    package struct Outcome: Sendable {
        package var end: End
        /// The beginning of its standard error: why it crashed.
        package var complaint: String
    }

    /// The program's absolute path.
    package let path: String
    package var limits = Limits()

    /// The maximum size of `Outcome.complaint`, in bytes.
    private static let maximumComplaint = 4096

    package init(path: String) { self.path = path }

    /// Runs the program. Blocks until it has ended.
    /// - Parameters:
    ///   - feed: Appends the next bytes for the program to read; returns `false` if there are no more.
    ///   - take: Receives the bytes of the answer, split at arbitrary places.
    /// - Returns: How it ended. A crash and a limit are ends like any other.
    /// - Throws: `ExecutionError.notStarted`, `CancellationError` after `stop`, and the closures' errors; the process is then ended.
    package func run(
        stop: Stop, feed: (inout [UInt8]) throws -> Bool, take: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Outcome {
        let child = try start()
        defer { child.close() }
        do {
            let isLate = try child.converse(
                until: ContinuousClock.now + limits.patience, stop: stop, feed: feed, take: take)
            if isLate { child.kill() }
            return child.end(isLate: isLate, maximumComplaint: Self.maximumComplaint)
        } catch {
            child.kill()
            _ = child.end(isLate: false, maximumComplaint: 0)
            throw error
        }
    }

    private func start() throws(ExecutionError) -> ReaderProcess {
        func failure(_ number: Int32) -> ExecutionError {
            ExecutionError(.notStarted, "run \(path)", String(cString: strerror(number)))
        }
        // Close-on-exec from the start, so that no other child process inherits them.
        var sockets: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &sockets) == 0 else {
            throw failure(errno)
        }
        var errors: [Int32] = [-1, -1]
        guard clinux_pipe(&errors) == 0 else {
            let number = errno
            for socket in sockets { close(socket) }
            throw failure(number)
        }
        let arguments = ["martlet-reader", "\(limits.memory)", "\(max(1, limits.processor.components.seconds))"]
        var strings: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
        defer { for string in strings { free(string) } }
        strings.append(nil)
        var pid: pid_t = 0
        let number = clinux_spawn_confined(&pid, path, strings, sockets[1], errors[1])
        close(sockets[1])
        close(errors[1])
        guard number == 0 else {
            close(sockets[0])
            close(errors[0])
            throw failure(number)
        }
        return ReaderProcess(pid: pid, socket: sockets[0], errors: errors[0])
    }
}

/// A running `martlet-reader`, and this process's ends of its sockets.
private struct ReaderProcess {
    let pid: pid_t
    let socket: Int32
    let errors: Int32
    /// Becomes readable when the process ends; -1 if no descriptor was left.
    let descriptor: Int32

    init(pid: pid_t, socket: Int32, errors: Int32) {
        (self.pid, self.socket, self.errors) = (pid, socket, errors)
        descriptor = clinux_pidfd_open(pid, 0)
    }

    func close() {
        Glibc.close(socket)
        Glibc.close(errors)
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    /// Kills the process. It is not reaped yet, so no other process has its identifier.
    func kill() { Glibc.kill(pid, SIGKILL) }

    /// Writes and reads, whichever is possible, until the process closes its end.
    /// - Returns: Whether the time limit was reached before.
    func converse(
        until end: ContinuousClock.Instant, stop: ReaderProgram.Stop, feed: (inout [UInt8]) throws -> Bool,
        take: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Bool {
        var (pending, sent, isFed) = ([UInt8](), 0, false)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            if sent == pending.count, !isFed {
                pending.removeAll(keepingCapacity: true)
                sent = 0
                isFed = try !feed(&pending)
                if isFed, pending.isEmpty { shutdown(socket, Int32(SHUT_WR)) }
            }
            let isSending = sent < pending.count
            guard let events = try wait(for: isSending ? POLLIN | POLLOUT : POLLIN, until: end, stop) else {
                return true
            }
            if isSending, events & Int16(POLLOUT | POLLERR | POLLHUP) != 0 {
                let count = pending.withUnsafeBytes { bytes in
                    let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
                    return send(socket, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
                }
                if count > 0 { sent += count }
                if count < 0, errno != EAGAIN, errno != EINTR {
                    // The program reads no more, but its earlier answer can still be read.
                    (sent, isFed) = (pending.count, true)
                }
                if sent == pending.count, isFed { shutdown(socket, Int32(SHUT_WR)) }
            }
            guard events & Int16(POLLIN | POLLERR | POLLHUP) != 0 else { continue }
            let count = recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
            if count > 0 {
                try take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
                return !waitForEnd(until: end)
            }
        }
    }

    /// Waits for events; `nil` if the time limit is reached.
    private func wait(
        for events: Int32, until end: ContinuousClock.Instant, _ stop: ReaderProgram.Stop
    ) throws -> Int16? {
        while true {
            try stop.check()
            let left = ContinuousClock.now.duration(to: end)
            guard left > .zero else { return nil }
            var asked = pollfd(fd: socket, events: Int16(events), revents: 0)
            if poll(&asked, 1, min(Self.milliseconds(left), Self.stopMilliseconds)) > 0 { return asked.revents }
        }
    }

    private func waitForEnd(until end: ContinuousClock.Instant) -> Bool {
        guard descriptor >= 0 else { return false }
        while true {
            let left = ContinuousClock.now.duration(to: end)
            guard left > .zero else { return false }
            var asked = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if poll(&asked, 1, Self.milliseconds(left)) > 0 { return true }
        }
    }

    /// How often a stop request is checked.
    private static let stopMilliseconds: Int32 = 200

    private static func milliseconds(_ duration: Duration) -> Int32 {
        Int32(
            clamping: duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000 + 1)
    }

    func end(isLate: Bool, maximumComplaint: Int) -> ReaderProgram.Outcome {
        var (status, usage) = (Int32(0), clinux_usage())
        while clinux_wait(pid, &status, &usage) < 0, errno == EINTR {}
        let complaint = [UInt8](unsafeUninitializedCapacity: maximumComplaint) { buffer, count in
            count = max(0, read(errors, buffer.baseAddress, buffer.count))
        }
        let end: ReaderProgram.End =
            isLate
            ? .late
            : clinux_wait_was_signaled(status) != 0
                ? .signaled(clinux_wait_signal(status)) : .exited(clinux_wait_exit_status(status))
        return ReaderProgram.Outcome(end: end, complaint: String(decoding: complaint, as: UTF8.self))
    }
}
