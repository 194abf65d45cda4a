import Basics
import Foundation
import Model
import Synchronization

/// Wishes to cancel running integrations, kept as a file `_cancel` in the integration's directory, so that a daemon which takes
/// it up knows of them.
package final class CancelWishes: Sendable {
    private let state: StateDirectory
    private let lane = BlockingLane(label: "wishes")
    /// Those of which a wish was stored here.
    private let stored = Mutex<Set<IntegrationID>>([])

    /// In bytes; a reason names a person or a commit.
    private static let maximumBytes = 8192
    /// Of a reason, in bytes: what every other byte escaped in JSON still leaves room for.
    private static let maximumReasonBytes = 1024

    private struct File: Codable {
        /// A later run of the integration is not meant.
        var run: Int
        var reason: String
        /// In milliseconds.
        var grace: Int64
    }

    package init(state: StateDirectory) { self.state = state }

    /// - Throws: `FileError`.
    func store(_ wish: Cancellation.Wish, for id: IntegrationID, run: Int) async throws {
        let (directory, path) = (state.integration(id), state.wish(id))
        let reason = String(decoding: wish.reason.utf8.prefix(Self.maximumReasonBytes), as: UTF8.self)
        let bytes = try JSONEncoder().encode(File(run: run, reason: reason, grace: wish.grace.milliseconds))
        stored.withLock { _ = $0.insert(id) }
        try await lane.run {
            _ = try Directory(creating: directory)
            try AtomicFile.write(Array(bytes), to: path)
        }
    }

    /// Nothing when nobody asked.
    /// - Parameter isNew: Whether it was queued since the start of this daemon, so that no other can have stored a wish.
    func wish(for id: IntegrationID, run: Int, isNew: Bool = false) async -> Cancellation.Wish? {
        if isNew, !stored.withLock({ $0.contains(id) }) { return nil }
        // The second is what versions before this one wrote, where a configuration's directory can lie: a wish that was accepted holds.
        let paths = [state.wish(id), state.integration(id) + "/cancel"]
        return await lane.run {
            for path in paths {
                // Absent for nearly all.
                guard let bytes = try? WholeFile.read(path, limit: Self.maximumBytes),
                    let file = try? JSONDecoder().decode(File.self, from: Data(bytes)), file.run == run
                else { continue }
                return Cancellation.Wish(reason: file.reason, grace: .milliseconds(file.grace))
            }
            return nil
        }
    }
}
