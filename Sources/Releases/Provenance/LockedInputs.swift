import Basics
import Encodings
import FoundationEssentials
import Model
import Reports
import SourceControl

/// The inputs of a build, according to the lock files of its commit: each file, and the packages that it pins. If a file cannot be read, or pins too
/// many packages to list, its annotation states so. None of this fails a publication.
struct LockedInputs {
    /// The most lock files of a commit that are read, beginning with those nearest to the root. Fixtures of tests can contain hundreds.
    static let maximumFiles = 100
    /// The largest file, in bytes, that is read. For a larger file only git's digest is stated.
    static let maximumHashed = 64 << 20
    /// The largest size of all pins of a version, in bytes as in a statement. Base64 adds a third to it. The result is far below 16 MiB, the largest
    /// `provenance.json` that is read (`VersionManifest.maximumSize`).
    static let maximumBytes = 2 << 20
    /// The name of the annotation: its author, and its subject (in-toto/attestation, spec/v1, "Parsing rules").
    static let annotation = "martlet_note"

    private(set) var inputs: [Provenance.Input] = []
    /// The reason why the inputs may be incomplete; `nil` if the lock files state all of them.
    private(set) var note: String?
    private var known: Set<LockedPackage> = []
    private var bytes = 0

    /// Reads the lock files of a commit.
    /// - Parameters:
    ///   - uri: The repository's URI, as it is written in an input.
    ///   - queue: The queue on which files are parsed and their digests computed.
    /// - Throws: `SourceControlError` if the mirror cannot be read.
    init(of commit: CommitID, in mirror: Mirror, uri: String, on queue: SerialQueue) async throws {
        let found = try await mirror.treeFiles(called: LockFile.names, at: commit, limit: Self.maximumFiles)
        if found.files.isEmpty, found.isWhole {
            note = "the commit has no lock file: what its build resolved is not among the inputs"
        } else if found.count > found.files.count || !found.isWhole {
            note =
                "of \(found.isWhole ? "" : "more than ")\(found.count.counting("lock file")) the "
                + "\(found.files.count) nearest to the root are inputs"
        }
        for file in found.files {
            let content = try await mirror.bytes(of: file, limit: Self.maximumHashed)
            let (digest, pins) = await queue.run { Self.read(content, of: file) }
            let place = inputs.count
            inputs.append(
                Provenance.Input(
                    uri: "\(uri)@\(commit)#\(Self.fragment(file.path))", digest: digest, name: file.path))
            let left = add(pins.packages) + pins.dropped
            var notes = pins.problem.map { ["its pinned dependencies could not be read: \($0)"] } ?? []
            if left > 0 {
                notes.append(
                    "\(left) of its pins are not listed: a statement has at most \(LockFile.maximumPins), and "
                        + "\(Self.maximumBytes >> 20) MiB of them")
            }
            if !notes.isEmpty { inputs[place].annotations = [Self.annotation: notes.joined(separator: "; ")] }
        }
    }

    /// Adds packages as inputs.
    /// - Returns: The number of packages that were left out for lack of room.
    private mutating func add(_ packages: [LockedPackage]) -> Int {
        var left = 0
        for package in packages where !known.contains(package) {
            let size =
                100 + package.uri.utf8.count + package.name.utf8.count
                + package.digest.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
            guard known.count < LockFile.maximumPins, bytes + size <= Self.maximumBytes else {
                left += 1
                continue
            }
            known.insert(package)
            bytes += size
            inputs.append(Provenance.Input(uri: package.uri, digest: package.digest, name: package.name))
        }
        return left
    }

    private static func read(
        _ content: [UInt8]?, of file: Mirror.TreeFile
    ) -> (digest: [String: String], pins: LockFile.Pins) {
        guard let content else {
            let problem = "it has more than \(maximumHashed >> 20) MiB"
            return (["gitBlob": file.blob], LockFile.Pins(problem: problem))
        }
        let digest = ["sha256": Digest.sha256(of: content)]
        guard content.count <= LockFile.maximumBytes else {
            let problem = "it has more than \(LockFile.maximumBytes >> 20) MiB"
            return (digest, LockFile.Pins(problem: problem))
        }
        return (digest, LockFile.pins(in: content, called: file.name))
    }

    /// Returns a path as the fragment of a URI (RFC 3986, section 3.5).
    private static func fragment(_ path: String) -> String { PercentEncoding.encode(path: path) }
}
