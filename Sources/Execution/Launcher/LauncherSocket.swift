import Basics
import Glibc
import JobProtocol

/// The client side of the launcher's socket.
struct LauncherSocket: Sendable {
    /// The absolute path of the socket.
    let path: String
    /// The launcher handles requests one after another.
    private let queue = SerialQueue(label: "launch")

    init(path: String) { self.path = path }

    /// Sends a request and receives its answer.
    ///
    /// A launcher that is killed while it starts a supervisor leaves its listening socket to that child until the child's exec. A client that
    /// connects meanwhile is never accepted, and gets a reset or an end instead of an answer. So may a client that is served when the launcher is
    /// killed.
    /// - Returns: `nil` if no launcher listens, or it went away without an answer. Whether the request was handled is then unknown.
    /// - Throws: `.noLauncher`.
    func exchange(_ request: [UInt8]) async throws(ExecutionError) -> [UInt8]? {
        let path = path
        let result = await queue.run { () -> Result<[UInt8]?, JobProtocolError> in
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
