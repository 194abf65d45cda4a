import Basics
import Model
import SourceControl
import TestSupport
import Testing

/// Names of refs that differ only in their bytes.
@Suite(
    .proves(
        .sourceControl, "Refs are told apart by their bytes, as git does; one whose name is no UTF-8 is left out (G15)")
)
struct RefSpellingTests {
    /// G15.
    @Test(arguments: [GitEngine.library, .program])
    func testThatRefsOfOneScanAreTwo(engine: GitEngine) async throws {
        try await withOrigin { fixture in
            // given: é as one character, and as e with an accent
            let first = try await fixture.origin.head()
            try await fixture.origin.git("update-ref", "refs/heads/release/caf\u{e9}", first.description)
            let second = try await fixture.origin.commit(files: ["b": "2\n"])
            try await fixture.origin.git("update-ref", "refs/heads/release/cafe\u{301}", second.description)
            let mirror = try fixture.other(engine)

            // when
            let heads = try await mirror.scan().heads
            try await mirror.fetch(heads)

            // then
            #expect(heads.count == 3)
            #expect(heads[RefName(branch: "release/caf\u{e9}")] == first)
            #expect(heads[RefName(branch: "release/cafe\u{301}")] == second)
            #expect(try await mirror.resolve("refs/heads/release/caf\u{e9}") == first)
            #expect(try await mirror.resolve("refs/heads/release/cafe\u{301}") == second)
        }
    }

    @Test(arguments: [GitEngine.library, .program])
    func testThatRefsWhoseNamesAreNoTextAreLeftOut(engine: GitEngine) async throws {
        try await withOrigin { fixture in
            // given: a name in Latin-1, which is not UTF-8
            let first = try await fixture.origin.head()
            let packed = "\(first) refs/heads/caf".utf8 + [0xe9] + "\n\(first) refs/heads/main\n".utf8
            try AtomicFile.write(Array(packed), to: fixture.origin.path + "/.git/packed-refs")

            // then
            #expect(try await fixture.other(engine).scan().heads == [fixture.main: first])
        }
    }
}
