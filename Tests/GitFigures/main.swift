import Foundation
import Glibc

// What git costs here, beside what the git command itself takes in the same run.
//
//   GitFigures [REPOSITORY]…     paths of repositories; else those in MARTLET_FIGURE_REPOSITORIES, separated by colons
//   GitFigures refs              only the repositories with 100,000 refs and with 20,000 files
//   GitFigures history           only what asking the past costs, in a repository that is made for it
//
// Not part of `swift test`: a figure needs a quiet machine and a release build. Prints one line a figure, the best of each side:
// `figure  REPOSITORY  WHAT  OURS  GIT'S  ratio`. Everything it makes is in a temporary directory.

let given = Array(CommandLine.arguments.dropFirst())
let named = ProcessInfo.processInfo.environment["MARTLET_FIGURE_REPOSITORIES"]?.split(separator: ":").map(String.init)
let repositories = given.isEmpty ? named ?? [] : given
guard !repositories.isEmpty else {
    print("usage: GitFigures REPOSITORY…")
    exit(64)
}
do {
    let root = FileManager.default.temporaryDirectory.path + "/martlet-figures-\(getpid())"
    // In the temporary directory, and named as ours, at worst.
    defer { try? FileManager.default.removeItem(atPath: root) }
    let (isRefs, isHistory) = (given == ["refs"], given == ["history"])
    if !isRefs, !isHistory {
        for repository in repositories { try await GitFigures(repository, in: root).run() }
    }
    if !isHistory { try await RefFigures(in: root).run() }
    if !isRefs { try await HistoryFigures(in: root).run() }
} catch {
    print("GitFigures: \(error)")
    exit(1)
}
