import Archives
import Basics
import Model
import Storage
import Synchronization

/// Whether versions' descriptions are what was published, looked at again when one of them is another file than before; bytes that change
/// beneath them are found by the scrub.
final class DescriptionChecks: Sendable {
    private struct Known: Sendable {
        let statuses: [FileStatus?]
        let check: DescriptionCheck
    }

    /// So many versions are known at a time: some 10 MB. Beyond, all are looked at again.
    private static let maximumKnown = 10_000

    /// Of its own: one check reads up to 64 MiB, and no download waits for that.
    private let lane = BlockingLane(label: "descriptions-check")
    private let known = Mutex<[String: Known]>([:])

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
            let before = Self.statuses(in: directory)
            if !isAnew, let known = self.known(at: place), known.statuses == before { return known.check }
            let check = DescriptionCheck(of: directory, files: files)
            // One that was exchanged meanwhile is looked at once more by who asks next.
            if Self.statuses(in: directory) == before { self.keep(Known(statuses: before, check: check), at: place) }
            return check
        }
    }

    private func known(at place: String) -> Known? { known.withLock { $0[place] } }

    private func keep(_ check: Known, at place: String) {
        known.withLock { known in
            if known.count >= Self.maximumKnown { known = [:] }
            known[place] = check
        }
    }

    private static func statuses(in directory: Directory) -> [FileStatus?] {
        VersionCheck.descriptions.map { (try? directory.status($0)) ?? nil }
    }
}
