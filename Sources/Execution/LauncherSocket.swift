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
    /// - Returns: Nothing when nobody listens.
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
                let isNobody = error.errno == ENOENT || error.errno == ECONNREFUSED
                return isNobody ? .success(nil) : .failure(error)
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
}
