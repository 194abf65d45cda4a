import Basics
import Glibc
import JobProtocol

/// The launcher's socket, as those see it who ask the launcher for something.
struct LauncherSocket: Sendable {
    /// Absolute.
    let path: String
    /// The launcher answers one after the other.
    private let lane = BlockingLane(label: "launch")

    init(path: String) { self.path = path }

    /// Sends a request and receives its answer.
    ///
    /// A launcher that was killed while it started a supervisor leaves its listening socket to that child until the child's exec: who
    /// connects in between is accepted by nobody, and gets a reset or an end in place of an answer. So may who is served when it is killed.
    /// - Returns: Nothing when nobody listens, or who did went without an answer. Whether it did as asked is then not known.
    /// - Throws: `.noLauncher`.
    func exchange(_ request: [UInt8]) async throws(ExecutionError) -> [UInt8]? {
        let path = path
        let result = await lane.run { () -> Result<[UInt8]?, JobProtocolError> in
            do throws(JobProtocolError) {
                let descriptor = try UnixSocket.connect(path)
                defer { close(descriptor) }
                try UnixSocket.send(request, to: descriptor)
                return .success(try UnixSocket.receive(from: descriptor, limit: LaunchRequest.sizeLimit))
            } catch {
                return Self.isNobody(error) ? .success(nil) : .failure(error)
            }
        }
        switch result {
        case .success(let answer): return answer
        case .failure(let error):
            throw ExecutionError(
                .noLauncher, "ask the launcher at \(path)",
                error.message + "; it runs as the daemon's user or root, and answers no other", underlying: error)
        }
    }

    private static func isNobody(_ error: JobProtocolError) -> Bool {
        if error.code == .closed { return true }
        return [ENOENT, ECONNREFUSED, ECONNRESET, EPIPE].contains(error.errno)
    }
}
