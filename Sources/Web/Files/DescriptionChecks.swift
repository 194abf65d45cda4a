import Basics
import Model
import Releases
import Storage

/// Checks whether versions' description files are the published ones. A version is checked again when one of its files was replaced; the scrub finds
/// bytes that changed in place.
final class DescriptionChecks: Sendable {
    /// Takes about 10 MB when it is full.
    private let known = FindingCache<DescriptionCheck>(limit: 10_000)
    /// A serial queue of its own: one check reads up to 64 MiB, and no download may wait for it.
    private let queue = SerialQueue(label: "descriptions-check")

    /// Checks the description files of a version.
    /// - Parameters:
    ///   - state: The path of the state directory.
    ///   - isAnew: Whether to read the files even if their result is cached.
    /// - Returns: `nil` if the version has no directory.
    func check(
        of record: VersionRecord, beneath state: String, isAnew: Bool = false
    ) async throws(FileError) -> DescriptionCheck? {
        let place = "files/\(record.product)/\(record.version)"
        let files = record.files
        return try await queue.run { () throws(FileError) -> DescriptionCheck? in
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
