import Archives
import Basics
import Model
import Storage

/// Whether versions' descriptions are what was published, looked at again when one of them is another file than before; bytes that change
/// beneath them are found by the scrub.
final class DescriptionChecks: Sendable {
    /// Some 10 MB when it is full.
    private let known = FindingMemory<DescriptionCheck>(limit: 10_000)
    /// Of its own: one check reads up to 64 MiB, and no download waits for that.
    private let lane = BlockingLane(label: "descriptions-check")

    /// - Parameters:
    ///   - state: The state directory.
    ///   - isAnew: Whatever is known.
    /// - Returns: Nothing when the version has no directory.
    func check(
        of record: VersionRecord, beneath state: String, isAnew: Bool = false
    ) async throws(FileError) -> DescriptionCheck? {
        let place = "files/\(record.product)/\(record.version)"
        let files = record.files
        return try await lane.run { () throws(FileError) -> DescriptionCheck? in
            let state = try Directory(opening: state, readsSecondNames: true)
            guard try state.status(place)?.kind == .directory else { return nil }
            let directory = try state.directory(place)
            return self.known.finding(
                at: place, isAnew: isAnew, statuses: { Self.statuses(in: directory) },
                find: { DescriptionCheck(of: directory, files: files) })
        }
    }

    private static func statuses(in directory: Directory) -> [FileStatus?] {
        VersionCheck.descriptions.map { (try? directory.status($0)) ?? nil }
    }
}
