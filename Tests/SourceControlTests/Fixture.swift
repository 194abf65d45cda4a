import Basics
import Encodings
import Model
import SourceControl
import TestSupport
import Testing

/// A repository of the real git, with our mirrors beside it.
struct Fixture {
    let directory: TemporaryDirectory
    let origin: GitRepository
    let mirror: Mirror

    /// The directory of the checked-out tree, and that of our record.
    var workspace: String { directory.path("workspace/tree") }
    var state: String { directory.path("workspace/checkout") }
    let main = RefName(branch: "main")

    /// Looks, fetches the branch and checks its tip out.
    func checkout(_ ref: RefName = RefName(branch: "main"), isClean: Bool = false) async throws -> CheckoutReport {
        let commit = try await fetch(ref)
        return try await mirror.checkout(commit, ref: ref, into: workspace, state: state, isClean: isClean)
    }

    /// Returns another mirror of the repository with one engine.
    func other(_ engine: GitEngine, limits: NetworkLimits = NetworkLimits()) throws -> Mirror {
        Mirrors(
            directory: directory.path("others-\(engine)"), limits: limits, configuration: GitConfiguration(files: []),
            engine: engine
        ).mirror(of: try RemoteURL(origin.path, isInsecureAllowed: false))
    }

    @discardableResult
    func fetch(_ ref: RefName = RefName(branch: "main")) async throws -> CommitID {
        let commit = try #require(try await mirror.scan().heads[ref])
        try await mirror.fetch([ref: commit])
        return commit
    }

    /// Makes a branch at the tip of `main`, and a commit on each; the mirror has both then.
    func diverge(
        main: [String: String], side: [String: String], removing: [String] = []
    ) async throws -> (base: CommitID, head: CommitID) {
        try await origin.branch("side")
        let head = try await origin.commit(files: side, removing: removing, message: "Side")
        try await origin.checkout("main")
        let base = try await origin.commit(files: main, message: "Main")
        try await mirror.fetch([self.main: base, RefName(branch: "side"): head])
        return (base, head)
    }

    /// Returns all files of the workspace except `.git`, with their bytes. Links are `-> target`; directories are left out.
    func tree(_ path: String? = nil) throws -> [String: String] {
        var found: [String: String] = [:]
        let tree = try Directory(opening: path ?? workspace)
        try tree.walk(limit: 100_000, enters: { !$0.elementsEqual(".git".utf8) }) { path, status in
            let name = String(decoding: path, as: UTF8.self)
            switch status.kind {
            case .file: found[name] = String(decoding: try tree.read(path, limit: 1 << 20), as: UTF8.self)
            case .link: found[name] = "-> " + String(decoding: try tree.linkTarget(path), as: UTF8.self)
            default: break
            }
        }
        return found
    }

    func status(_ name: String) throws -> FileStatus? { try Directory(opening: workspace).status(name) }
}

/// Runs a test with a repository with one commit of `files` on `main`, and its mirror.
func withOrigin(
    _ files: [String: String] = ["README": "kit\n"], limits: NetworkLimits = NetworkLimits(),
    _ body: (Fixture) async throws -> Void
) async throws {
    try await withTemporaryDirectory { directory in
        let origin = try await GitRepository.make(at: directory.path("origin/kit"))
        _ = try await origin.commit(files: files, message: "First")
        let mirrors = Mirrors(
            directory: directory.path("repositories"), limits: limits, configuration: GitConfiguration(files: []))
        let mirror = mirrors.mirror(of: try RemoteURL(origin.path, isInsecureAllowed: false))
        try await body(Fixture(directory: directory, origin: origin, mirror: mirror))
    }
}

/// Makes a commit with a tree that `git add` never makes, and points `main` of a repository to it.
/// - Parameter tree: Lines for `git mktree`, `MODE TYPE ID\tNAME`. `BLOB` and `TREE` stand for an id of each.
func commitTree(_ lines: [String], in repository: GitRepository) async throws {
    let blob = try await repository.git(["hash-object", "-w", "--stdin"], input: "planted\n")
    let link = try await repository.git(["hash-object", "-w", "--stdin"], input: "../..")
    let inner = try await repository.git(["mktree"], input: "100644 blob \(blob)\tx\n")
    let text = lines.map {
        $0.replacing("BLOB", with: blob).replacing("LINK", with: link).replacing("TREE", with: inner) + "\n"
    }.joined()
    // `hash-object --literally` makes trees that mktree refuses, such as one with a duplicate name.
    var bytes: [UInt8] = []
    for line in text.split(separator: "\n") {
        let parts = line.split(separator: "\t", maxSplits: 1)
        let words = parts[0].split(separator: " ")
        bytes += Array(words[0].utf8) + [0x20] + Array(parts[1].utf8) + [0]
        bytes += try #require(Hexadecimal.decode(String(words[2])))
    }
    let file = repository.path + "/.git/planted-tree"
    try AtomicFile.write(bytes, to: file)
    let tree = try await repository.git(["hash-object", "-t", "tree", "--literally", "-w", file])
    let commit = try await repository.git(
        ["commit-tree", "-m", "Planted", tree], date: Timestamp(secondsSinceEpoch: 1_767_225_600))
    try await repository.git("update-ref", "refs/heads/main", commit)
}
