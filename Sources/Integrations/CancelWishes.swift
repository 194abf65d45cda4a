import Basics
import Model

/// People's wishes to cancel running integrations, kept as a file `cancel` in the integration's directory until it ends.
package struct CancelWishes: Sendable {
    private let state: StateDirectory
    private let lane = BlockingLane(label: "wishes")

    /// In bytes; a reason names a person.
    private static let maximumBytes = 4096

    package init(state: StateDirectory) { self.state = state }

    /// - Throws: `FileError`.
    func store(_ reason: String, for id: IntegrationID) async throws {
        let directory = state.integration(id)
        try await lane.run {
            _ = try Directory(creating: directory)
            try AtomicFile.write(Array(reason.utf8.prefix(Self.maximumBytes)), to: directory + "/cancel")
        }
    }

    /// The reason, or nothing when nobody asked.
    func wish(for id: IntegrationID) async -> String? {
        let path = state.integration(id) + "/cancel"
        return await lane.run {
            // Absent for nearly all.
            (try? WholeFile.read(path, limit: Self.maximumBytes)).map { String(decoding: $0, as: UTF8.self) }
        }
    }
}
