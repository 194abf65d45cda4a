import Foundation

/// A request that is repeated until it is accepted, as by a git server's hook or a user, on a thread of its own.
final class Repetition: @unchecked Sendable {
    private let accepted = DispatchSemaphore(value: 0)

    /// - Parameter act: Makes the request once, and returns whether it is accepted.
    init(socket: String, _ act: @escaping @Sendable (ServiceClient) throws -> Bool) {
        Thread {
            let client = ServiceClient(socket: socket)
            _ = Moment.until(limit: 60, pause: 50) {
                // There is no answer because the daemon was killed. Nothing was promised, and the request is repeated.
                (try? act(client)) ?? false
            }
            self.accepted.signal()
        }.start()
    }

    func isAccepted(limit: Double) -> Bool { accepted.wait(timeout: .now() + limit) == .success }
}
