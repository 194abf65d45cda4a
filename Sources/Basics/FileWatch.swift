import CLinux
import Dispatch
import Glibc
import Synchronization

/// Tells when files change, by inotify(7): one descriptor for all that are watched here, and no thread that only waits.
///
/// Where the machine has no watch left (`fs.inotify.max_user_instances`, `max_user_watches`) nothing is told, and who waits
/// looks again after the limit that it names.
package final class FileWatch: Sendable {
    private struct State {
        var nextNumber = 0
        /// Who wants to know of a watch's changes, by the watch's descriptor.
        var observers: [Int32: [Int: Observer.Signal]] = [:]
    }

    private let notifier: Int32
    // Dispatch says of its objects that any thread may use them, but not in Swift's words.
    nonisolated(unsafe) private let source: (any DispatchSourceRead)?
    private let state = Mutex(State())

    /// - Parameter pause: How long changes are gathered after one was told, so that a file that is written a thousand times
    ///   a second wakes nobody as often. The first is told at once.
    package init(pause: Duration = .zero) {
        notifier = clinux_watch()
        guard notifier >= 0 else {
            source = nil
            return
        }
        let source = DispatchSource.makeReadSource(
            fileDescriptor: notifier, queue: DispatchQueue(label: "martlet.watch"))
        self.source = source
        let (notifier, microseconds) = (notifier, UInt32(clamping: pause.components.attoseconds / 1_000_000_000_000))
        source.setEventHandler { [weak self] in
            self?.tell()
            if microseconds > 0 { usleep(microseconds) }
        }
        source.setCancelHandler { close(notifier) }
        source.activate()
    }

    deinit { source?.cancel() }

    /// Whether the machine had an instance left for this one; else it tells nothing, ever.
    package var isAble: Bool { notifier >= 0 }

    /// Somebody who wants to know of changes; nothing is watched yet.
    package func observer() -> Observer {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        return Observer(watch: self, number: number)
    }

    /// - Returns: The watch's descriptor; nothing when there is no such file or no watch left.
    fileprivate func add(_ path: String, isDirectory: Bool, _ number: Int, _ signal: Observer.Signal) -> Int32? {
        guard notifier >= 0 else { return nil }
        // Under the lock: another's removal must not end a watch that was just given out a second time.
        return state.withLock { state in
            let descriptor = clinux_watch_add(notifier, path, isDirectory ? 1 : 0)
            guard descriptor >= 0 else { return nil }
            state.observers[descriptor, default: [:]][number] = signal
            return descriptor
        }
    }

    fileprivate func remove(_ descriptors: Set<Int32>, _ number: Int) {
        state.withLock { state in
            for descriptor in descriptors {
                state.observers[descriptor]?[number] = nil
                guard state.observers[descriptor]?.isEmpty == true else { continue }
                state.observers[descriptor] = nil
                clinux_watch_remove(notifier, descriptor)
            }
        }
    }

    private func tell() {
        var changed: Set<Int32> = []
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = read(notifier, &buffer, buffer.count)
            guard count > 0 else { break }
            var offset = 0
            // struct inotify_event: int wd; uint32_t mask, cookie, len; char name[len].
            while offset + 16 <= count {
                let (descriptor, length) = buffer.withUnsafeBytes { bytes in
                    (
                        bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self),
                        bytes.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self)
                    )
                }
                changed.insert(descriptor)
                offset += 16 + Int(length)
            }
        }
        let signals = state.withLock { state in
            // -1: the kernel's queue was full, so that anything may have changed.
            changed.contains(-1)
                ? state.observers.values.flatMap(\.values)
                : changed.flatMap { state.observers[$0].map { Array($0.values) } ?? [] }
        }
        for signal in signals { signal.fire() }
    }
}

extension FileWatch {
    /// One who waits for changes. What it watches is watched until it is gone.
    package final class Observer: Sendable {
        private let watch: FileWatch
        private let number: Int
        private let signal = Signal()
        private let descriptors = Mutex<Set<Int32>>([])

        fileprivate init(watch: FileWatch, number: Int) {
            self.watch = watch
            self.number = number
        }

        deinit { watch.remove(descriptors.withLock { $0 }, number) }

        /// Watches a file's content from now on. Again for a path that it watches: also what lies there now, if that is
        /// another file. Blocks for a look at the path.
        /// - Returns: False when there is no such file, or no watch left.
        @discardableResult package func add(file path: String) -> Bool { add(path, isDirectory: false) }

        /// Watches what is made in a directory or moved there, not what its files hold.
        @discardableResult package func add(directory path: String) -> Bool { add(path, isDirectory: true) }

        private func add(_ path: String, isDirectory: Bool) -> Bool {
            guard let descriptor = watch.add(path, isDirectory: isDirectory, number, signal) else { return false }
            descriptors.withLock { _ = $0.insert(descriptor) }
            return true
        }

        /// Returns after a change since the last call, when the task is canceled, or after `limit`. One task at a time.
        /// - Returns: Whether there was a change.
        package func wait(atMost limit: Duration) async -> Bool { await signal.wait(atMost: limit) }

        /// Ends a wait as a change would, or the next one.
        package func wake() { signal.fire() }
    }
}

extension FileWatch.Observer {
    /// A change that was told and not yet seen, or who waits for one.
    fileprivate final class Signal: Sendable {
        private struct State {
            var isSet = false
            var turn = 0
            var waiting: CheckedContinuation<Bool, Never>?
        }

        private let state = Mutex(State())

        func fire() {
            state.withLock { state in
                defer { state.waiting = nil }
                state.isSet = state.waiting == nil
                return state.waiting
            }?.resume(returning: true)
        }

        func wait(atMost limit: Duration) async -> Bool {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let (turn, answer): (Int, Bool?) = state.withLock { state in
                        state.turn += 1
                        if state.isSet || Task.isCancelled {
                            defer { state.isSet = false }
                            return (state.turn, state.isSet)
                        }
                        state.waiting = continuation
                        return (state.turn, nil)
                    }
                    if let answer { return continuation.resume(returning: answer) }
                    DispatchQueue.global().asyncAfter(deadline: .now() + limit.dispatch) { [weak self] in
                        self?.giveUp(turn)
                    }
                }
            } onCancel: {
                giveUp(nil)
            }
        }

        /// - Parameter turn: Which wait; nothing: any.
        private func giveUp(_ turn: Int?) {
            state.withLock { state -> CheckedContinuation<Bool, Never>? in
                guard turn == nil || turn == state.turn else { return nil }
                defer { state.waiting = nil }
                return state.waiting
            }?.resume(returning: false)
        }
    }
}

extension Duration {
    fileprivate var dispatch: DispatchTimeInterval {
        .milliseconds(Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000))
    }
}
