import Model
import Storage

/// Links from findings and failing tests of an integration to their lines in its logs.
struct LogLinks: Sendable {
    private let id: IntegrationID
    /// The attempt and the line of each, by its configuration.
    private var lines: [Name: [LogPlace.Key: (attempt: Int, line: Int)]] = [:]

    /// Reads the lines of all configurations.
    /// - Parameter attempt: The number of each configuration's attempt; `nil`: the latest.
    init(of id: IntegrationID, attempt: Int?, in store: Store) async throws {
        self.id = id
        for (attempt, places) in try await store.logPlaces(of: id, attempt: attempt).sorted(by: { $0.key < $1.key }) {
            for place in places where lines[attempt.job]?[place.key] == nil {
                lines[attempt.job, default: [:]][place.key] = (attempt.attempt, place.line)
            }
        }
    }

    /// Returns the path to the line of an issue in the log of a configuration; `nil` if that log does not have it.
    func path(of issue: Issue, in configuration: Name) -> String? {
        path(LogPlace.Key(issue.finding), in: configuration)
    }

    /// Returns the path to the line of a test; `nil` if the log does not name it.
    func path(ofTest fullName: String, in configuration: Name) -> String? {
        path(LogPlace.Key(test: fullName), in: configuration)
    }

    private func path(_ key: LogPlace.Key, in configuration: Name) -> String? {
        guard let found = lines[configuration]?[key] else { return nil }
        return
            "/bots/\(id.bot)/\(id.number)/log/\(configuration)?attempt=\(found.attempt)&line=\(found.line)#L\(found.line)"
    }
}
