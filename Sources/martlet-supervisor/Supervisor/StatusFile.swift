import CLinux
import Glibc
import JobProtocol
import Processes

/// The file `status.jsonl`. Each line is on disk before anything relies on it.
final class StatusFile {
    private let descriptor: Int32
    private let directory: String
    /// Whether the file's name is on disk. It must be before the first step runs, so that the step never runs again.
    private var isEntered = false

    /// More than a job of 100 steps writes. It is reserved on the disk before the job begins, so that a job that fills the disk still ends properly.
    private static let reservedBytes: Int64 = 32 << 10

    private init(descriptor: Int32, directory: String) {
        self.descriptor = descriptor
        self.directory = directory
    }

    /// Creates the file.
    /// - Returns: `.failure` with EEXIST if another supervisor has created it.
    static func create(_ paths: AttemptPaths) -> Result<StatusFile, SystemError> {
        let descriptor = clinux_open(paths.status, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { return .failure(SystemError(number: errno)) }
        clinux_reserve(descriptor, Self.reservedBytes)
        return .success(StatusFile(descriptor: descriptor, directory: paths.directory))
    }

    /// Appends an event and writes it to disk, except for a step's end.
    /// - Returns: 0, or the error's number. An event that could not be written is not in the file. An event that could not be synchronized stays,
    ///   since the daemon may have read it. The step that it announces then does not begin, and the last event follows it.
    @discardableResult func append(_ event: StatusEvent) -> Int32 {
        clinux_failpoint(Self.name(of: event), "before")
        defer { clinux_failpoint(Self.name(of: event), "after") }
        let failure = write(event)
        // Nothing relies on a step's end before the next line is written, which also brings it to disk.
        if case .ended = event { return failure }
        return failure == 0 ? synchronize() : failure
    }

    /// Writes an event and starts its way to disk: the first half of `append`. The caller prepares something meanwhile, and then calls `finishBegun`.
    func begin(_ event: StatusEvent) -> Int32 {
        clinux_failpoint(Self.name(of: event), "before")
        let failure = write(event)
        if failure == 0 { clinux_begin_writing(descriptor) }
        return failure
    }

    /// Waits until the event is on disk: the second half of `append`.
    /// - Parameter failure: The result of `begin`.
    /// - Returns: 0, or the error's number.
    func finishBegun(_ event: StatusEvent, _ failure: Int32) -> Int32 {
        defer { clinux_failpoint(Self.name(of: event), "after") }
        return failure == 0 ? synchronize() : failure
    }

    private func write(_ event: StatusEvent) -> Int32 {
        let size = lseek(descriptor, 0, SEEK_END)
        let failure = Descriptor.writeAll(event.line() + [0x0A], to: descriptor)
        if failure != 0 { ftruncate(descriptor, size) }
        return failure
    }

    private func synchronize() -> Int32 {
        guard fsync(descriptor) == 0 else { return errno }
        return isEntered ? 0 : enter()
    }

    /// The number of attempts to write the last event, a second apart.
    private static let lastWordTries = 600

    /// Appends the last event. Without it all results of the job are lost, so if the disk is full it is repeated for ten minutes.
    func finish(_ event: StatusEvent, isStopped: () -> Bool) {
        // The unused reserve is released.
        defer { ftruncate(descriptor, lseek(descriptor, 0, SEEK_END)) }
        for _ in 0..<Self.lastWordTries {
            let size = lseek(descriptor, 0, SEEK_END)
            let failure = append(event)
            // An event that is in the file is not written again, even if it is not on disk yet.
            guard failure == ENOSPC || failure == EDQUOT, lseek(descriptor, 0, SEEK_END) == size, !isStopped() else {
                return
            }
            poll(nil, 0, 1000)
        }
    }

    private func enter() -> Int32 {
        let failure = Descriptor.synchronize(directory: directory)
        isEntered = failure == 0
        return failure
    }

    /// Returns the name of the failpoint for tests; see `Failpoint` in Basics.
    private static func name(of event: StatusEvent) -> String {
        switch event {
        case .started: "status.started"
        case .ended: "status.ended"
        case .finished: "status.finished"
        }
    }
}
