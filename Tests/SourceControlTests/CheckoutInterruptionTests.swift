import Basics
import Model
import TestSupport
import Testing

@testable import SourceControl

/// A checkout whose task is canceled ends at the next file and loses nothing, and the next one repairs what it left.
@Suite struct CheckoutInterruptionTests {
    /// A file in the middle of the tree, and only in the second commit.
    private static let reached = "f200-new"

    /// Returns several hundred files with the same content.
    private static func files(_ content: String) -> [String: String] {
        Dictionary(uniqueKeysWithValues: (100..<500).map { ("f\($0)", content) })
    }

    private static let first = files("1\n").merging([".gitignore": "built/\n"]) { $1 }
    private static let second = first.merging(files("2\n")) { $1 }.merging([reached: "2\n"]) { $1 }
    private static let built = ["built/product": "compiled\n"]

    /// The commit that is checked out after the interrupted one.
    enum Next: CaseIterable { case same, before }

    @Test(
        .proves(
            .sourceControl,
            "A checkout that is canceled, superseded or stopped ends at its next file; the next one repairs it, and build products stay"
        ), arguments: Next.allCases)
    func testThatWhatItLeftAtAFileIsRepairedByTheNext(next: Next) async throws {
        try await withOrigin(Self.first) { fixture in
            // given
            let commits = try await self.commits(fixture)

            // when
            let error = try await interrupt(fixture, commits.second) { tree in Self.holds(tree, Self.reached) }

            // then: the files up to that one, and none after it
            #expect(error?.code == .canceled)
            let left = try fixture.tree()
            #expect(left["f200"] == "2\n")
            #expect(left["f201"] == "1\n")
            #expect(left["built/product"] == Self.built["built/product"])

            // when
            let commit = next == .same ? commits.second : commits.first
            let report = try await fixture.mirror.checkout(
                commit, ref: fixture.main, into: fixture.workspace, state: fixture.state)

            // then
            #expect(!report.isFresh)
            let whole = next == .same ? Self.second : Self.first
            #expect(try fixture.tree() == whole.merging(Self.built) { $1 })
            // f100 to f200 were written, and are left alone or written back. f201 to f499 were not.
            let changes = next == .same ? (299, 0) : (101, 1)
            #expect((report.written, report.removed) == changes)
            #expect(report.written + report.unchanged == whole.count)
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "A checkout that is canceled, superseded or stopped ends at its next file; the next one repairs it, and build products stay"
        ))
    func testThatOneThatBeganWithNothingBeginsAnew() async throws {
        try await withOrigin(Self.second) { fixture in
            // given
            let commit = try await fixture.fetch()

            // when
            let error = try await interrupt(fixture, commit) { tree in Self.holds(tree, Self.reached) }

            // then
            #expect(error?.code == .canceled)
            #expect(try fixture.tree().count == 103, "the rules, f100 to f200, and the new one")

            // when
            let report = try await fixture.checkout()

            // then
            #expect(report.isFresh)
            #expect(try fixture.tree() == Self.second)
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "A checkout that is canceled, superseded or stopped ends at its next file; the next one repairs it, and build products stay"
        ))
    func testThatAnInterruptedSurveyIsNoReasonToEmptyTheWorkspace() async throws {
        try await withOrigin(Self.first) { fixture in
            // given
            let commits = try await self.commits(fixture)
            let tree = try Directory(opening: fixture.workspace)
            try tree.write("a-left", bytes: [])

            // when: it has removed untracked files
            let error = try await interrupt(fixture, commits.second) { tree in !Self.holds(tree, "a-left") }

            // then
            #expect(error?.code == .canceled)
            #expect(try fixture.tree() == Self.first.merging(Self.built) { $1 })
            #expect(try await fixture.checkout().isFresh == false)
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "A checkout that is canceled, superseded or stopped ends at its next file; the next one repairs it, and build products stay"
        ))
    func testThatOneThatIsCanceledBeforeItsTurnTouchesNothing() async throws {
        try await withOrigin { fixture in
            // given
            let commit = try await fixture.fetch()
            let (mirror, workspace, state) = (fixture.mirror, fixture.workspace, fixture.state)

            // when
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await mirror.checkout(
                    commit, ref: RefName(branch: "main"), into: workspace, state: state)
            }
            let result = await task.result

            // then
            let error = #expect(throws: SourceControlError.self) { try result.get() }
            #expect(error?.code == .canceled)
            #expect(try fixture.directory.directory().status("workspace") == nil)
        }
    }

    @Test func testThatOneThatIsCanceledWhileItReadsTheRulesWritesNothing() async throws {
        try await withOrigin(["a": "1\n", "b": "1\n", "z/.gitignore": "x\n"]) { fixture in
            // given
            let commit = try await fixture.fetch()
            let (state, asked) = (fixture.state, Locked(0))

            // when: it asks for the first file before it writes, and later while it reads the rules
            let error = try await interrupt(fixture, commit) { _ in
                guard Self.holds(state, "pending") else { return false }
                return asked.withLock {
                    $0 += 1
                    return $0 == 2
                }
            }

            // then
            #expect(error?.code == .canceled)
            #expect(try fixture.tree().isEmpty)
        }
    }

    @Test func testThatACanceledExportWritesNothing() async throws {
        try await withOrigin { fixture in
            // given
            let commit = try await fixture.fetch()
            let (mirror, target) = (fixture.mirror, fixture.directory.path("export"))

            // when
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await mirror.export(commit, into: target)
            }
            let result = await task.result

            // then
            let error = #expect(throws: SourceControlError.self) { try result.get() }
            #expect(error?.code == .canceled)
            #expect(try fixture.directory.directory().status("export") == nil)
        }
    }

    // MARK: What it needs

    /// Checks the first commit out, lets a job build something, and makes the second commit.
    private func commits(_ fixture: Fixture) async throws -> (first: CommitID, second: CommitID) {
        let first = try await fixture.fetch()
        _ = try await fixture.mirror.checkout(
            first, ref: fixture.main, into: fixture.workspace, state: fixture.state)
        let tree = try Directory(opening: fixture.workspace)
        try tree.makeDirectories("built")
        for (path, text) in Self.built { try tree.write(path, bytes: Array(text.utf8)) }
        _ = try await fixture.origin.commit(files: Self.second, message: "Second")
        return (first, try await fixture.fetch())
    }

    private static func holds(_ tree: String, _ name: String) -> Bool {
        // A directory that cannot be opened yet contains nothing.
        guard let directory = try? Directory(opening: tree) else { return false }
        return ((try? directory.status(name)) ?? nil) != nil
    }

    /// Checks a commit out in a task that is canceled as soon as the workspace is in the wanted state. That happens between two files, on the
    /// queue's thread.
    /// - Parameter isReached: Gets the path of the workspace's tree.
    private func interrupt(
        _ fixture: Fixture, _ commit: CommitID, when isReached: @escaping @Sendable (_ tree: String) -> Bool
    ) async throws -> SourceControlError? {
        let (mirror, workspace, state) = (fixture.mirror, fixture.workspace, fixture.state)
        let handle = Locked<Task<SourceControlError?, Never>?>(nil)
        // It begins only when it can be canceled.
        let (begin, begins) = AsyncStream<Void>.makeStream()
        let task = Task { () -> SourceControlError? in
            for await _ in begin { break }
            return await Self.failure(mirror, commit, into: workspace, state: state) {
                if isReached(workspace) { handle.value?.cancel() }
            }
        }
        handle.withLock { $0 = task }
        begins.yield()
        return await task.value
    }

    /// - Parameter look: Called each time before the checkout asks whether it must stop.
    private static func failure(
        _ mirror: Mirror, _ commit: CommitID, into workspace: String, state: String,
        look: @escaping @Sendable () -> Void
    ) async -> SourceControlError? {
        do throws(SourceControlError) {
            _ = try await mirror.interruptible { repository, interruption throws(SourceControlError) in
                try Checkout(
                    store: mirror.store, repository: repository, commit: commit, ref: RefName(branch: "main"),
                    workspace: workspace, state: state, isClean: false, kept: [], submodules: [],
                    upstream: UpstreamRefs(), acceptsPointers: false,
                    interruption: Interruption {
                        look()
                        return interruption.isRequested
                    }
                ).run()
            }
            return nil
        } catch {
            return error
        }
    }
}
