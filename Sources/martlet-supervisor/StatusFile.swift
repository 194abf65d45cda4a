import CLinux
import Glibc
import JobProtocol

/// `status.jsonl`, of which every line is on the disk before anything relies on it.
struct StatusFile {
    private let descriptor: Int32

    /// Makes the file; `.failure` with EEXIST when another supervisor did.
    static func create(_ paths: AttemptPaths) -> Result<StatusFile, SystemError> {
        let descriptor = clinux_open(paths.status, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { return .failure(SystemError(number: errno)) }
        let directory = clinux_open(paths.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        if directory >= 0 {
            fsync(directory)
            close(directory)
        }
        return .success(StatusFile(descriptor: descriptor))
    }

    /// - Returns: 0, or the number of what failed; the file is then as it was.
    @discardableResult func append(_ event: StatusEvent) -> Int32 {
        clinux_failpoint(Self.name(of: event), "before")
        defer { clinux_failpoint(Self.name(of: event), "after") }
        let size = lseek(descriptor, 0, SEEK_END)
        let failure = Descriptor.writeAll(event.line() + [0x0A], to: descriptor)
        guard failure == 0 else {
            ftruncate(descriptor, size)
            return failure
        }
        return fsync(descriptor) == 0 ? 0 : errno
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
