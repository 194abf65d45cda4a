import Basics
import Releases

/// A cache of the signature and provenance checks of versions, for their pages. A version is checked again when one of its files was replaced. The
/// scrub finds bytes that changed in place.
final class VersionSeals: Sendable {
    /// Takes about 5 MB when it is full.
    private let known = FindingCache<VersionSeal>(limit: 10_000)
    /// A serial queue of its own: the files of one version can have 64 MiB, and no download may wait for them.
    private let queue = SerialQueue(label: "version-seals")
    private let read: @Sendable (_ version: Directory, _ files: Directory) -> VersionSeal

    /// Creates an empty cache.
    /// - Parameter read: Reads the seal of a version; tests replace it.
    init(
        read: @escaping @Sendable (_ version: Directory, _ files: Directory) -> VersionSeal = {
            VersionSeal(of: $0, in: $1)
        }
    ) {
        self.read = read
    }

    /// Runs the closure that calls `seal`, together with the other reads for a page.
    func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value { await queue.run(body) }

    /// Returns the seal of a version. Blocks.
    /// - Parameters:
    ///   - directory: The version's directory.
    ///   - files: The root directory of the file server.
    ///   - place: The version's name, such as `kit/1.4.2`.
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
