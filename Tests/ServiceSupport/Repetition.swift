import Foundation

/// A request that is made again and again until it is accepted, as a git server's hook or a person does, on a thread of its own.
final class Repetition: @unchecked Sendable {
    private let accepted = DispatchSemaphore(value: 0)

    /// - Parameter act: Makes it once, and says whether it is accepted.
    init(socket: String, _ act: @escaping @Sendable (ServiceClient) throws -> Bool) {
        Thread {
            let client = ServiceClient(socket: socket)
            _ = Moment.until(limit: 60, pause: 50) {
                // No answer, because the daemon was killed: nothing was promised, and it is made again.
                (try? act(client)) ?? false
            }
            self.accepted.signal()
        }.start()
    }

    func isAccepted(limit: Double) -> Bool { accepted.wait(timeout: .now() + limit) == .success }
}
