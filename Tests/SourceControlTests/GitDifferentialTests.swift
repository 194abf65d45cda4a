import Basics
import Foundation
import Model
import SourceControl
import TestSupport
import Testing

/// Compares with the `git` command on generated repositories: the files of a checkout with those of `git clone`, and a snapshot of a working tree
/// with `git add -A && git write-tree`.
///
/// `MARTLET_DIFFERENTIAL=SEED` repeats one; `MARTLET_DIFFERENTIAL=FIRST-LAST` runs a range.
@Suite struct GitDifferentialTests {
    private static let seeds: ClosedRange<Int> = {
        let words = (ProcessInfo.processInfo.environment["MARTLET_DIFFERENTIAL"] ?? "1-16").split(separator: "-")
            .compactMap { Int($0) }
        return words.isEmpty ? 1...16 : words[0]...(words.last ?? words[0])
    }()

    @Test(
        .proves(
            .sourceControl,
            "Checkouts and snapshots equal git's (attributes, ignore rules, modes, links, names), compared with the `git` command on generated repositories"
        ))
    func testThatCheckoutsAndSnapshotsAreGits() async throws {
        for seed in Self.seeds {
            try await withTemporaryDirectory { directory in try await compare(seed, directory) }
        }
    }

    private func compare(_ seed: Int, _ directory: TemporaryDirectory) async throws {
        func fails(_ what: String, _ path: [UInt8], _ ours: String?, _ gits: String?) {
            Issue.record(
                """
                \(what) of "\(String(decoding: path, as: UTF8.self))" is \(ours ?? "absent"), of git \(gits ?? "absent"); repeat it by \
                MARTLET_DIFFERENTIAL=\(seed) swift test --filter GitDifferentialTests
                """)
        }
        // given
        var tree = GeneratedTree(seed: seed)
        let origin = try Directory(creating: directory.path("origin"))
        let isRaw = seed % 2 == 1
        try await git("git init -q -b main", in: origin.path)
        try origin.apply(tree.files)
        // Odd seeds have raw blobs, whatever the attributes say; even ones have those that git makes of files.
        if isRaw { try await git("git add -A -f", in: origin.path) }
        try origin.apply(tree.rules)
        try await git(
            """
            \(isRaw ? "git add -f -- ':(glob)**/.gitattributes' ':(glob)**/.gitignore'" : "git add -A -f 2>../err || "
                + "{ find . -name .gitattributes -exec sed -i s/working-tree-encoding/wte/ {} + && git add -A -f; }")
            if [ $((\(seed) % 3)) = 0 ]; then
                git update-index --add --cacheinfo 160000,1234567890123456789012345678901234567890,module
            fi
            git commit -q -m First
            git clone -q . ../clone
            """, in: origin.path)
        let clone = try Directory(opening: directory.path("clone"))

        // when
        let mirror = Mirrors(directory: directory.path("mirrors"), configuration: GitConfiguration(files: [])).mirror(
            of: try RemoteURL(origin.path, isInsecureAllowed: false))
        let main = RefName(branch: "main")
        let commit = try #require(try await mirror.scan().heads[main])
        try await mirror.fetch([main: commit])
        let workspace = directory.path("workspace/tree")
        _ = try await mirror.checkout(
            commit, ref: main, into: workspace, state: directory.path("workspace/state"), acceptsPointers: true)

        // then
        let (ours, gits) = (try Directory(opening: workspace).inventory(), try clone.inventory())
        for path in Set(ours.keys).union(gits.keys) where ours[path] != gits[path] {
            fails("the checkout", path, ours[path], gits[path])
        }
        if !isRaw {
            let status = try await git("git status --porcelain", in: workspace)
            if !status.isEmpty { fails("the status", Array("the job's tree".utf8), status, "clean") }
        }

        // given: a format, and changes. The index is newer than all files it knows, so that git trusts it
        let format = [
            "true", "git update-index --split-index",
            "git config core.repositoryformatversion 1 && git config extensions.worktreeConfig true",
            "git update-index --index-version 4",
        ][seed % 4]
        try await git("\(format) && touch -d '+10 seconds' .git/index", in: clone.path)
        let changes = tree.change()
        try clone.apply(changes)
        // git compares times in seconds. Changes within the second of the clone must be noticed nevertheless.
        try directory.write("changed", Array(changes.keys.map { $0 + [0] }.joined()))
        try await git(
            """
            xargs -0 -r touch -h -c -d 2021-05-05 -- <../changed
            if [ $((\(seed) % 5)) = 0 ]; then git init -q inner && git -C inner commit -q --allow-empty -m Inner && echo >inner/f; fi
            """, in: clone.path)

        // when
        let working = WorkingTree(
            path: clone.path, repository: directory.path("ours"), configuration: GitConfiguration(files: []))
        let expected = try await git(
            """
            export GIT_INDEX_FILE=$PWD/../index
            cp .git/index ../index; touch -r .git/index ../index
            if ! git add -A 2>../err; then echo refused; exit 0; fi
            git ls-files -s -z inner | cut -z -f 2 | git update-index -z --force-remove --stdin
            git write-tree
            """, in: clone.path)
        var found = "refused"
        do throws(SourceControlError) {
            let snapshot = try await working.snapshot()
            found = try await working.mirror.details(of: snapshot.commit).tree
        } catch {
            guard error.code == .treeRefused else { throw error }
        }

        // then
        guard found != expected else { return }
        let trees = try await git(
            """
            export GIT_OBJECT_DIRECTORY=$PWD/../ours/objects GIT_ALTERNATE_OBJECT_DIRECTORIES=$PWD/.git/objects
            git diff-tree -r \(expected) \(found) 2>&1 || true; cat ../err
            """, in: clone.path)
        fails("the snapshot", Array("the tree".utf8), found, expected + "\n" + trees)
    }

    @discardableResult
    private func git(_ script: String, in directory: String) async throws -> String {
        let output = try await runExpectingSuccess(
            ["bash", "-ec", script], in: directory,
            environment: GitRepository.environment(date: Timestamp(secondsSinceEpoch: 1_767_225_600)).merging([
                "GIT_ATTR_NOSYSTEM": "1"
            ]) { $1 })
        return output.hasSuffix("\n") ? String(output.dropLast()) : output
    }
}
