import Basics
import Foundation
import Model
import SourceControl
import TestSupport

/// Measures the first mirror of a repository, and each further commit.
struct GitFigures {
    /// The number of further commits that are fetched and checked out one by one.
    static let steps = 8
    static let rounds = 3

    let name: String
    let source: String
    let root: String

    init(_ source: String, in directory: String) {
        self.source = source
        let last = source.split(separator: "/").last { $0 != "repo" && $0 != ".git" } ?? "repository"
        name = String(last.split(separator: "+").last ?? last)
        root = "\(directory)/\(name)"
    }

    func run() async throws {
        _ = try Directory(creating: root)
        // The server has only branches and tags, in one pack.
        try await Figures.git(["clone", "-q", "--bare", "--no-local", source, root + "/server.git"])
        try await Figures.serving(root) { origin in
            try await firstMirrors(origin + "/server.git", "first mirror over a connection", goal: 1.5)
            try await firstMirrors(root + "/server.git", "first mirror of a path", goal: 1.5)
            try await steps(origin + "/server.git", "over a connection")
            try await steps(root + "/server.git", "of a path")
        }
    }

    private func mirror(_ address: String, _ place: String) throws -> Mirror {
        Mirrors(directory: "\(root)/\(place)", configuration: GitConfiguration(files: []))
            .mirror(of: try RemoteURL(address, isInsecureAllowed: true))
    }

    private func remove(_ names: String...) throws {
        let directory = try Directory(opening: root)
        for name in names { try directory.remove(name) }
    }

    private func firstMirrors(_ address: String, _ what: String, goal: Double) async throws {
        var (ours, theirs): ([Duration], [Duration]) = ([], [])
        for _ in 0..<Self.rounds {
            theirs.append(
                try await Figures.time {
                    try await Figures.git(["clone", "-q", "--mirror", address, root + "/theirs"])
                })
            let mirror = try mirror(address, "ours")
            let heads = try await mirror.scan().heads
            ours.append(try await Figures.time { try await mirror.fetch(heads) })
            try remove("theirs", "ours")
        }
        Figures.say(name, what, ours: ours, git: theirs, goal: goal)
    }

    /// Measures the last commits of the default branch, each pushed after the one before.
    private func steps(_ address: String, _ what: String) async throws {
        let server = root + "/server.git"
        let branch = try await output(["symbolic-ref", "HEAD"])
        let commits = try await output(["rev-list", "--first-parent", "-n", "\(Self.steps + 1)", branch])
            .split(separator: "\n").compactMap { CommitID($0) }
        let ref = RefName(branch)
        guard let first = commits.last, let last = commits.first else { return }
        try await Figures.git(["update-ref", branch, first.description], in: server)
        // The server does not have the commits that come later.
        try await Figures.git([
            "clone", "-q", "--bare", "--no-local", "--single-branch", "--no-tags", server, root + "/narrow.git",
        ])
        let narrow = address.replacing("server.git", with: "narrow.git")
        let ours = try mirror(narrow, "ours")
        let (workspace, state) = (root + "/workspace/tree", root + "/workspace/checkout")
        let theirs = root + "/worktree"
        try await Figures.git(["clone", "-q", narrow, theirs])
        try await ours.fetch(try await ours.scan().heads)
        _ = try await ours.checkout(first, ref: ref, into: workspace, state: state)
        var (oursTook, looks, theirsTook): ([Duration], [Duration], [Duration]) = ([], [], [])
        for commit in commits.dropLast().reversed() {
            try await Figures.git(["fetch", "-q", server, "\(commit):\(branch)"], in: root + "/narrow.git")
            theirsTook.append(
                try await Figures.time {
                    try await Figures.git(["fetch", "-q"], in: theirs)
                    try await Figures.git(["checkout", "-q", "--detach", commit.description], in: theirs)
                })
            var heads: [RefName: CommitID] = [:]
            looks.append(try await Figures.time { heads = try await ours.scan().heads })
            oursTook.append(
                try await Figures.time {
                    try await ours.fetch(heads)
                    _ = try await ours.checkout(commit, ref: ref, into: workspace, state: state)
                })
        }
        try await Figures.git(["update-ref", branch, last.description], in: server)
        Figures.say(
            name, "fetch and checkout of a commit, \(what)", ours: Figures.median(oursTook),
            git: Figures.median(theirsTook), goal: 1)
        Figures.say(
            name, "with the scan before it, \(what)", ours: Figures.median(zip(oursTook, looks).map { $0 + $1 }),
            git: Figures.median(theirsTook))
        try remove("ours", "workspace", "worktree", "narrow.git")
    }

    private func output(_ arguments: [String]) async throws -> String {
        let text = try await runExpectingSuccess(
            ["git"] + arguments, in: root + "/server.git", environment: GitRepository.environment())
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }
}
