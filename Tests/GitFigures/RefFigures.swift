import Basics
import Foundation
import Model
import SourceControl
import TestSupport

/// Measures a repository with 100,000 refs and one with 20,000 files.
struct RefFigures {
    let root: String

    init(in directory: String) { root = directory + "/large" }

    func run() async throws {
        let origin = try await GitRepository.make(at: root + "/refs")
        let commit = try await origin.commit(files: ["a": "1\n"])
        let lines = (0..<100_000).map { "\(commit) refs/heads/topic/\($0)" }.sorted().joined(separator: "\n")
        try AtomicFile.write(
            Array("# pack-refs with: peeled fully-peeled sorted \n\(lines)\n".utf8), to: root + "/refs/.git/packed-refs"
        )
        try await Figures.serving(root) { address in
            for (kind, address) in [("over a connection", address + "/refs"), ("of a path", root + "/refs")] {
                let mirror = Mirrors(directory: root + "/mirrors", configuration: GitConfiguration(files: []))
                    .mirror(of: try RemoteURL(address, isInsecureAllowed: true))
                let ours = try await Figures.time { _ = try await mirror.scan() }
                let theirs = try await Figures.time { try await Figures.git(["ls-remote", address]) }
                Figures.say(
                    "100,000 refs", "look \(kind); resident at most \(Self.resident)", ours: [ours], git: [theirs])
            }
        }
        let files = try await GitRepository.make(at: root + "/files")
        let tree = try Directory(opening: root + "/files")
        for directory in 0..<200 {
            try tree.makeDirectories("d\(directory)")
            for file in 0..<100 {
                try tree.write("d\(directory)/f\(file)", bytes: Array("\(directory) \(file)\n".utf8))
            }
        }
        _ = try await files.commit()
        let mirror = Mirrors(directory: root + "/mirrors", configuration: GitConfiguration(files: []))
            .mirror(of: try RemoteURL(root + "/files", isInsecureAllowed: false))
        let heads = try await mirror.scan().heads
        try await mirror.fetch(heads)
        let main = RefName(branch: "main")
        let (workspace, state) = (root + "/workspace/tree", root + "/workspace/checkout")
        func checkout(_ commit: CommitID) async throws {
            _ = try await mirror.checkout(commit, ref: main, into: workspace, state: state)
        }
        guard let first = heads[main] else { return }
        let ours = try await Figures.time { try await checkout(first) }
        let theirs = try await Figures.time {
            try await Figures.git(["clone", "-q", "--shared", root + "/files", root + "/theirs"])
        }
        Figures.say("20,000 files", "first checkout", ours: [ours], git: [theirs])
        var (oursTook, theirsTook): ([Duration], [Duration]) = ([], [])
        for step in 0..<GitFigures.steps {
            let next = try await files.commit(files: ["d0/f\(step)": "changed\n"])
            try await mirror.fetch(try await mirror.scan().heads)
            oursTook.append(try await Figures.time { try await checkout(next) })
            try await Figures.git(["fetch", "-q"], in: root + "/theirs")
            theirsTook.append(
                try await Figures.time {
                    try await Figures.git(["checkout", "-q", "--detach", next.description], in: root + "/theirs")
                })
        }
        Figures.say(
            "20,000 files", "checkout of one changed file", ours: Figures.median(oursTook),
            git: Figures.median(theirsTook))
    }

    private static var resident: String {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        let kilobytes = line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
        return "\(kilobytes / 1024) MB"
    }
}
