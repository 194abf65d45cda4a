import Basics
import TestSupport
import Testing

/// Shows that each expectation can fail.
@Suite struct ExpectationsTests {
    @Test func testThatALineThatDiffersIsNamed() {
        expectEqualLines("a\nb", "a\nb")
        withKnownIssue {
            expectEqualLines("a\nb\nc", "a\nx\nc")
        } matching: {
            $0.description.contains(#"line 2 is "b", expected "x""#)
        }
        withKnownIssue {
            expectEqualLines("a", "a\nb")
        } matching: {
            $0.description.contains(#"line 2 is the end, expected "b""#)
        }
    }

    @Test func testThatAPartThatDiffersIsNamed() {
        expectNoDifference(["a": 1, "b": 2], ["a": 1, "b": 2])
        withKnownIssue {
            expectNoDifference(["a": 1, "b": 2], ["a": 1, "b": 3])
        } matching: {
            $0.description.contains(#"-   "b": 2"#) && $0.description.contains(#"+   "b": 3"#)
        }
    }

    @Test func testThatAFileThatMustNotBeIsFound() {
        expectNoFile("/nonexistent")
        withKnownIssue { expectNoFile("/etc/passwd") }
        withKnownIssue { expectFile("/nonexistent", "text") }
        withKnownIssue { expectContains("abc", "d") }
    }

    @Test(
        .proves(
            .testsAndPages,
            "`Tests/TestSupport`: directories, seeded identifiers, clock, logger, git, processes, expectations"))
    func testThatARejectionIsHeldToItsCode() async {
        let error = FileError(code: .exists, operation: "write", path: "x", message: "there already")
        let caught = await expectRejection(FileError.self, \.code, .exists) { throw error }
        #expect(caught == error)
        await withKnownIssue { await expectRejection(FileError.self, \.code, .notFound) { throw error } }
        await withKnownIssue { await expectRejection(FileError.self, \.code, .exists) { 1 } }
        await withKnownIssue { await expectRejection(FileError.self, \.code, .exists) { throw CancellationError() } }
    }
}
