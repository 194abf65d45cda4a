package import Model
import Synchronization
package import Transfer

/// The progress of running uploads. It is only in memory: after a restart an upload starts again, and reports its progress.
package final class UploadBoard: Sendable {
    private struct Key: Hashable {
        var integration: IntegrationID
        var trigger: Name
    }

    private let state = Mutex<[Key: UploadProgress]>([:])

    package init() {}

    /// Returns the progress of an integration's uploads, by trigger.
    package func uploads(of id: IntegrationID) -> [Name: UploadProgress] {
        state.withLock { state in
            var found: [Name: UploadProgress] = [:]
            for (key, progress) in state where key.integration == id { found[key.trigger] = progress }
            return found
        }
    }

    /// Records the progress of an upload.
    /// - Returns: Whether viewers should be notified, because the phase or the file changed, or another twentieth of the file was sent.
    package func record(_ progress: UploadProgress, integration: IntegrationID, trigger: Name) -> Bool {
        let before = state.withLock { state in
            let key = Key(integration: integration, trigger: trigger)
            defer { state[key] = progress }
            return state[key]
        }
        guard let before, before.number == progress.number, before.phase == progress.phase,
            before.attempt == progress.attempt
        else { return true }
        return Self.twentieth(before) != Self.twentieth(progress)
    }

    /// Removes an upload that has ended, whatever its result.
    package func end(integration: IntegrationID, trigger: Name) {
        state.withLock { $0[Key(integration: integration, trigger: trigger)] = nil }
    }

    private static func twentieth(_ progress: UploadProgress) -> Int64 { progress.bytes / max(1, progress.size / 20) }
}

extension UploadProgress {
    /// The progress as a text for users: `sending kit.tar.zst, file 1 of 3: 12 MiB of 64 MiB, try 2 (the connection broke)`.
    package var sentence: String {
        let done =
            phase == .sending || phase == .waiting
            ? "\(ByteCount(bytes)) of \(ByteCount(size))" : ByteCount(size).description
        let what = phase == .waiting ? "waiting to send" : phase.rawValue
        let again = interruption.map { phase == .waiting ? " (\($0))" : ", try \(attempt) (\($0))" } ?? ""
        return "\(what) \(file), file \(number) of \(count): \(done)\(again)"
    }
}
