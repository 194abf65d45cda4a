import Archives
import Basics

/// What signatures and provenance of versions come to, for their pages: read again when one of the files is another than before. Bytes that
/// change beneath them are found by the scrub.
final class VersionSeals: Sendable {
    /// Some 5 MB when it is full.
    private let known = FindingMemory<VersionSeal>(limit: 10_000)
    /// Of its own: a version can have 64 MiB to read, and no download waits for that.
    private let lane = BlockingLane(label: "version-seals")
    private let read: @Sendable (_ version: Directory, _ files: Directory) -> VersionSeal

    /// - Parameter read: As `VersionSeal` has it; another for tests.
    init(
        read: @escaping @Sendable (_ version: Directory, _ files: Directory) -> VersionSeal = {
            VersionSeal(of: $0, in: $1)
        }
    ) {
        self.read = read
    }

    /// Runs what asks for a seal, with whatever else it reads for a page.
    func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value { await lane.run(body) }

    /// Blocks.
    /// - Parameters:
    ///   - directory: The version's.
    ///   - files: The file server's tree.
    ///   - place: The version's name: `kit/1.4.2`.
    func seal(of directory: Directory, in files: Directory, at place: String) -> VersionSeal {
        known.finding(
            at: place, statuses: { Self.statuses(directory, files) }, find: { read(directory, files) })
    }

    private static func statuses(_ directory: Directory, _ files: Directory) -> [FileStatus?] {
        let own: [FileStatus?] = ["SHA256SUMS", "SHA256SUMS.sig", "provenance.json"].map {
            (try? directory.status($0)) ?? nil
        }
        return own + [(try? files.status(AllowedSigners.fileName)) ?? nil]
    }
}
