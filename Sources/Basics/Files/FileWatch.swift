import CLinux
import Dispatch
import Glibc
import Synchronization

/// A reporter of file changes by inotify(7). It has one descriptor for all watched files, and no thread that only waits.
///
/// If the machine has no watches left (`fs.inotify.max_user_instances`, `max_user_watches`), changes are not reported. Observers then check again
/// after the time limit of their wait.
package final class FileWatch: Sendable {
    private struct State {
        var nextNumber = 0
        /// The observers of each watch, by the watch's descriptor and the observer's number.
        var observers: [Int32: [Int: Observer.Signal]] = [:]
    }

    private let notifier: Int32
    // Dispatch documents that its objects may be used from any thread, but does not declare them `Sendable`.
    nonisolated(unsafe) private let source: (any DispatchSourceRead)?
    private let state = Mutex(State())

    /// Starts without any watches.
    /// - Parameter pause: How long changes are collected after one was reported, so that a file that is written a thousand times a second wakes its
    ///   observers less often. The first change is reported immediately. Only the fraction of a second is used.
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

    /// Whether the machine had an inotify instance left. If not, changes are never reported.
    package var isAble: Bool { notifier >= 0 }

    /// Returns a new observer, which watches no files yet.
    package func observer() -> Observer {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        return Observer(watch: self, number: number)
    }

    /// Adds a watch for an observer.
    /// - Returns: The watch's descriptor; `nil` if the file does not exist or no watch is left.
    fileprivate func add(_ path: String, isDirectory: Bool, _ number: Int, _ signal: Observer.Signal) -> Int32? {
        guard notifier >= 0 else { return nil }
        // Done under the lock: otherwise the removal by another observer could end a watch whose descriptor inotify has just returned again.
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
            // -1: the kernel's queue overflowed, so any file may have changed.
            changed.contains(-1)
                ? state.observers.values.flatMap(\.values)
                : changed.flatMap { state.observers[$0].map { Array($0.values) } ?? [] }
        }
        for signal in signals { signal.fire() }
    }
}

extension FileWatch {
    /// An observer of changes. Its files are watched as long as it lives.
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

        /// Watches a file's content from now on. For a path that is already watched, also watches the file that is there now if it is another one.
        /// Blocks for one lookup of the path.
        /// - Returns: `false` if the file does not exist or no watch is left.
        @discardableResult package func add(file path: String) -> Bool { add(path, isDirectory: false) }

        /// Watches which files are created in a directory or moved there, but not their content.
        @discardableResult package func add(directory path: String) -> Bool { add(path, isDirectory: true) }

        private func add(_ path: String, isDirectory: Bool) -> Bool {
            guard let descriptor = watch.add(path, isDirectory: isDirectory, number, signal) else { return false }
            descriptors.withLock { _ = $0.insert(descriptor) }
            return true
        }

        /// Waits for a change since the last call, for the cancellation of the task, or for `limit`. Only one task may wait at a time.
        /// - Returns: Whether there was a change.
        package func wait(atMost limit: Duration) async -> Bool { await signal.wait(atMost: limit) }

        /// Ends the current wait, or the next one, as a change would.
        package func wake() { signal.fire() }
    }
}

extension FileWatch.Observer {
    /// A change that was reported and not yet seen, or the task that waits for one.
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

        /// Ends a wait without a change.
        /// - Parameter turn: The number of the wait; `nil` means any.
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
