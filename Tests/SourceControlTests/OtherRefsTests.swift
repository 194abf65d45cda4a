import Basics
import Model
import SourceControl
import TestSupport
import Testing

/// Refs other than branches and tags, such as the heads of pull requests.
@Suite(.proves(.intake, "Pull requests: their heads are seen by the scan, beside branches and tags and never as such"))
struct OtherRefsTests {
    private static let head = RefName("refs/pull/12/head")
    private static let packed = RefName("refs/merge-requests/3/head")

    /// Makes two of them, one in its own file and one packed, and one that is not requested.
    private static func plant(_ fixture: Fixture) async throws -> (loose: CommitID, packed: CommitID) {
        try await fixture.origin.branch("fork")
        let second = try await fixture.origin.commit(files: ["b": "2\n"], message: "Two")
        try await fixture.origin.git("update-ref", packed.description, second.description)
        try await fixture.origin.git("pack-refs", "--all")
        let first = try await fixture.origin.commit(files: ["c": "3\n"], message: "Three")
        try await fixture.origin.git("update-ref", head.description, first.description)
        try await fixture.origin.git("update-ref", "refs/pull/13/head", first.description)
        try await fixture.origin.checkout("main")
        try await fixture.origin.git("branch", "-D", "fork")
        return (first, second)
    }

    @Test(arguments: [GitEngine.automatic, .program, .library])
    func testThatThoseAreListedThatWereAskedFor(_ engine: GitEngine) async throws {
        try await withOrigin { fixture in
            // given
            let (first, second) = try await Self.plant(fixture)
            let mirror = try fixture.other(engine)

            // when
            let usual = try await mirror.scan()
            let listing = try await mirror.scan(others: [Self.head, Self.packed, RefName("refs/pull/99/head")])

            // then: they are never taken for branches
            #expect(usual.others == [:])
            #expect(listing.others == [Self.head: first, Self.packed: second])
            #expect(listing.heads == usual.heads && listing.heads.keys.allSatisfy { $0.branch != nil })
        }
    }

    @Test(arguments: [GitEngine.automatic, .program, .library])
    func testThatTheirCommitsAreFetched(_ engine: GitEngine) async throws {
        try await withOrigin { fixture in
            // given
            let (first, _) = try await Self.plant(fixture)
            let mirror = try fixture.other(engine)
            let listing = try await mirror.scan(others: [Self.head])
            let main = try #require(listing.heads[fixture.main])

            // when
            try await mirror.fetch([fixture.main: main, Self.head: first])

            // then
            #expect(try await mirror.contains(first))
            #expect(try await mirror.resolve("refs/tags/none") == nil)
        }
    }

    @Test(.threat("G8")) func testG8ThatRefsOfAForkThatNobodyAskedForAreNotFetched() async throws {
        try await withOrigin { fixture in
            // given: refs that a fork could have pushed beside its branch
            let (first, second) = try await Self.plant(fixture)
            let main = try await fixture.origin.head("main")
            try await fixture.origin.git("update-ref", "refs/replace/\(main)", second.description)
            let mirror = try fixture.other(.program)
            _ = try await mirror.scan(others: [Self.head])

            // when
            try await mirror.fetch([fixture.main: main, Self.head: first])

            // then
            let refs = try await runExpectingSuccess(["git", "-C", mirror.path, "for-each-ref", "--format=%(refname)"])
            #expect(Set(refs.split(separator: "\n")) == ["refs/heads/main", "refs/pull/12/head"])
            _ = try await mirror.checkout(main, ref: fixture.main, into: fixture.workspace, state: fixture.state)
            #expect(try fixture.tree() == ["README": "kit\n"])
        }
    }
}
