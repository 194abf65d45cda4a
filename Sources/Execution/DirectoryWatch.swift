import Basics
import CLinux
import Glibc

/// Tells when something in a directory changes: inotify(7), with a thread that sleeps in poll(2) only while somebody waits.
final class DirectoryWatch: Sendable {
    /// The longest wait, so that a supervisor that died without writing anything is noticed.
    private static let limitMilliseconds: Int32 = 1000
    /// After a change, how long others are let come: a job that prints a thousand lines a second is looked at 50 times.
    private static let settleMicroseconds: UInt32 = 20_000

    private let lane = BlockingLane(label: "follow")
    private let notifier: Int32
    private let waker: Int32

    /// Watches nothing, and waits always for the limit, when the machine has no watches left.
    init(path: String) {
        notifier = clinux_watch(path)
        waker = clinux_eventfd()
    }

    deinit {
        if notifier >= 0 { close(notifier) }
        if waker >= 0 { close(waker) }
    }

    /// Returns after a change since the last call, when the task is canceled, or after a second.
    func wait() async {
        await withTaskCancellationHandler {
            await lane.run { self.block() }
        } onCancel: {
            var one: UInt64 = 1
            _ = write(self.waker, &one, 8)
        }
    }

    private func block() {
        var sources = [
            pollfd(fd: notifier, events: Int16(POLLIN), revents: 0),
            pollfd(fd: waker, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&sources, 2, Self.limitMilliseconds) > 0, sources[0].revents != 0 else { return }
        usleep(Self.settleMicroseconds)
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while read(notifier, &buffer, buffer.count) > 0 {}
    }
}
