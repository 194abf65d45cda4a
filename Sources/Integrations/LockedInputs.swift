import Archives
import Basics
import FoundationEssentials
import Model
import Reports
import SourceControl
import Transfer

/// What the lock files of a commit say that its build takes in: each file, and what it pins. A file that cannot be read, or
/// pins more than is listed, says so in its annotation; none of it fails a publication.
struct LockedInputs {
    /// Of one commit; those nearest to the root. Fixtures of tests have hundreds.
    static let maximumFiles = 100
    /// The digest of a larger file is git's alone.
    static let maximumHashed = 64 << 20
    /// What all pins of a version may have, in bytes as a statement has them: with base64's third far from the 16 MiB above which no
    /// `provenance.json` is read (`VersionManifest.maximumSize`).
    static let maximumBytes = 2 << 20
    /// The annotation's name: who states it, and what (in-toto/attestation, spec/v1, "Parsing rules").
    static let annotation = "martlet_note"

    private(set) var inputs: [Provenance.Input] = []
    /// Why something that the build took in may be no input; nothing when the lock files say all of it.
    private(set) var note: String?
    private var known: Set<LockedPackage> = []
    private var bytes = 0

    /// - Parameters:
    ///   - uri: The repository's, as an input has it.
    ///   - lane: Where files are digested and read.
    /// - Throws: `SourceControlError` when the mirror cannot be read.
    init(of commit: CommitID, in mirror: Mirror, uri: String, on lane: BlockingLane) async throws {
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
            let (digest, pins) = await lane.run { Self.read(content, of: file) }
            let place = inputs.count
            inputs.append(
                Provenance.Input(
                    uri: "\(uri)@\(commit)#\(Self.fragment(file.path))", digest: digest, name: file.path))
            let left = add(pins.packages) + pins.dropped
            var notes = pins.problem.map { ["what it pins could not be read: \($0)"] } ?? []
            if left > 0 {
                notes.append(
                    "\(left) of its pins are not listed: a statement has at most \(LockFile.maximumPins), and "
                        + "\(Self.maximumBytes >> 20) MiB of them")
            }
            if !notes.isEmpty { inputs[place].annotations = [Self.annotation: notes.joined(separator: "; ")] }
        }
    }

    /// - Returns: How many there was no room for.
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

    /// A path as the fragment of an address (RFC 3986, 3.5).
    private static func fragment(_ path: String) -> String {
        path.split(separator: "/", omittingEmptySubsequences: false).map { PercentEncoding.encode(String($0)) }
            .joined(separator: "/")
    }
}
