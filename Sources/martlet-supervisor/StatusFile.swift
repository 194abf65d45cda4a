import CLinux
import Glibc
import JobProtocol

/// `status.jsonl`, of which a line is on the disk before anything relies on it.
final class StatusFile {
    private let descriptor: Int32
    private let directory: String
    /// Whether the directory's entry of it is on the disk: before the first step runs, so that it never runs again.
    private var isEntered = false

    /// More than a job of 100 steps writes. It is reserved on the disk before the job begins, so that a job that fills the disk still ends properly.
    private static let reservedBytes: Int64 = 32 << 10

    private init(descriptor: Int32, directory: String) {
        self.descriptor = descriptor
        self.directory = directory
    }

    /// Makes the file; `.failure` with EEXIST when another supervisor did.
    static func create(_ paths: AttemptPaths) -> Result<StatusFile, SystemError> {
        let descriptor = clinux_open(paths.status, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { return .failure(SystemError(number: errno)) }
        clinux_reserve(descriptor, Self.reservedBytes)
        return .success(StatusFile(descriptor: descriptor, directory: paths.directory))
    }

    /// - Returns: 0, or the error's number. An event that could not be written is not in the file; one that could not be synchronized stays, since
    ///   the daemon may have read it: the step that it announces does not begin, and the last event follows it.
    @discardableResult func append(_ event: StatusEvent) -> Int32 {
        clinux_failpoint(Self.name(of: event), "before")
        defer { clinux_failpoint(Self.name(of: event), "after") }
        let failure = write(event)
        // Nobody relies on a step's end before the next line is there, which brings it to the disk with itself.
        if case .ended = event { return failure }
        return failure == 0 ? synchronize() : failure
    }

    /// The first half of `append`, for what is on its way to the disk while something else is made that waits for it; see `finishBegun`.
    func begin(_ event: StatusEvent) -> Int32 {
        clinux_failpoint(Self.name(of: event), "before")
        let failure = write(event)
        if failure == 0 { clinux_begin_writing(descriptor) }
        return failure
    }

    /// The second half.
    /// - Parameter failure: What the first half returned.
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

    /// Tries of the last word, a second apart.
    private static let lastWordTries = 600

    /// The last word: without it all that the job did is lost, so where the disk is full it is tried again for ten minutes.
    func finish(_ event: StatusEvent, isStopped: () -> Bool) {
        // The unused reserve is released.
        defer { ftruncate(descriptor, lseek(descriptor, 0, SEEK_END)) }
        for _ in 0..<Self.lastWordTries {
            let size = lseek(descriptor, 0, SEEK_END)
            let failure = append(event)
            // An event that is in the file is not written twice, whether or not it is on the disk.
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

    /// For tests that stop us there; see `Failpoint` in Basics.
    private static func name(of event: StatusEvent) -> String {
        switch event {
        case .started: "status.started"
        case .ended: "status.ended"
        case .finished: "status.finished"
        }
    }
}
