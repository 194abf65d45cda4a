import Foundation
import Glibc

// Measures the costs of git operations, beside those of the git command in the same run.
//
//   GitFigures [REPOSITORY]…     paths of repositories; the default is MARTLET_FIGURE_REPOSITORIES, separated by colons
//   GitFigures refs              only the repositories with 100,000 refs and with 20,000 files
//   GitFigures history           only the questions about the history, in a repository that is made for it
//
// It is not part of `swift test`, because a figure needs a quiet machine and a release build. It prints one line per figure, the best of each side:
// `figure  REPOSITORY  WHAT  OURS  GIT'S  ratio`. Its files are in a temporary directory.

let given = Array(CommandLine.arguments.dropFirst())
let named = ProcessInfo.processInfo.environment["MARTLET_FIGURE_REPOSITORIES"]?.split(separator: ":").map(String.init)
let repositories = given.isEmpty ? named ?? [] : given
guard !repositories.isEmpty else {
    print("usage: GitFigures REPOSITORY…")
    exit(64)
}
do {
    let root = FileManager.default.temporaryDirectory.path + "/martlet-figures-\(getpid())"
    // At worst the files stay in the temporary directory, with our name.
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
