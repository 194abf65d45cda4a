import Basics
package import Execution
import Foundation
import Model
import Synchronization

/// Stores requests to cancel running integrations. Each is a file `_cancel` in the integration's directory, so that a daemon that takes up the
/// integration finds it.
package final class CancellationRequests: Sendable {
    private let state: StateDirectory
    private let queue = SerialQueue(label: "wishes")
    /// The integrations for which this daemon stored a request.
    private let stored = Mutex<Set<IntegrationID>>([])

    /// The largest size of a request's file, in bytes. A reason names a user or a commit.
    private static let maximumBytes = 8192
    /// The largest size of a reason, in bytes. It still fits into the file if JSON escapes every other byte.
    private static let maximumReasonBytes = 1024

    private struct File: Codable {
        /// The run that the request is for. It does not apply to a later run of the integration.
        var run: Int
        var reason: String
        /// The time between SIGTERM and SIGKILL, in milliseconds.
        var grace: Int64
    }

    package init(state: StateDirectory) { self.state = state }

    /// Stores a request.
    /// - Throws: `FileError`.
    func store(_ cancelRequest: Cancellation.Request, for id: IntegrationID, run: Int) async throws {
        let (directory, path) = (state.integration(id), state.cancellationRequest(id))
        let reason = String(decoding: cancelRequest.reason.utf8.prefix(Self.maximumReasonBytes), as: UTF8.self)
        let bytes = try JSONEncoder().encode(File(run: run, reason: reason, grace: cancelRequest.grace.milliseconds))
        stored.withLock { _ = $0.insert(id) }
        try await queue.run {
            _ = try Directory(creating: directory)
            try AtomicFile.write(Array(bytes), to: path)
        }
    }

    /// Returns the request to cancel this run; `nil` if there is none.
    /// - Parameter isNew: Whether the integration was queued since this daemon started, so that no other daemon can have stored a request.
    func request(for id: IntegrationID, run: Int, isNew: Bool = false) async -> Cancellation.Request? {
        if isNew, !stored.withLock({ $0.contains(id) }) { return nil }
        // Versions before this one wrote the second path, where a configuration's directory can be. An accepted request is kept.
        let paths = [state.cancellationRequest(id), state.integration(id) + "/cancel"]
        return await queue.run {
            for path in paths {
                // The file is absent for nearly all integrations.
                guard let bytes = try? WholeFile.read(path, limit: Self.maximumBytes),
                    let file = try? JSONDecoder().decode(File.self, from: Data(bytes)), file.run == run
                else { continue }
                return Cancellation.Request(reason: file.reason, grace: .milliseconds(file.grace))
            }
            return nil
        }
    }
}
