import Basics
import Model
import TestSupport
import Testing

@testable import SourceControl

/// Commits that integrations hold, after a mirror was found damaged.
@Suite struct LostHoldsTests {
    private static let lost = CommitID("0123456789012345678901234567890123456789")

    @Test(
        .proves(
            .sourceControl,
            "A damaged pack, ref or HEAD is repaired by the next fetch, with all holds; only damaged files are removed")
    )
    func testThatTheyWaitAsLongAsTheServerDoesNotAnswer() async throws {
        try await withOrigin { fixture in
            // given
            let (head, lost) = (try await fixture.fetch(), try #require(Self.lost))
            let store = fixture.mirror.store
            let list = "\(lost) refs/martlet/kit/1\n\(head) refs/martlet/kit/2\n\(lost) refs/martlet/kit/3\n"
            try Directory(opening: store.path).write("martlet-holds", bytes: Array(list.utf8))
            let repository = try store.open()

            // when: the server is asked once, and not for the others
            var asked: [CommitID] = []
            try store.restoreHolds(in: repository.pointer) { commit throws(SourceControlError) in
                asked.append(commit)
                return false
            }

            // then
            #expect(asked == [lost])
            #expect(store.hasLostHolds)
            let left = try WholeFile.read(store.path + "/martlet-holds", limit: 1000)
            #expect(String(decoding: left, as: UTF8.self) == "\(lost) refs/martlet/kit/1\n\(lost) refs/martlet/kit/3\n")
            let held = try await runExpectingSuccess(["git", "-C", store.path, "for-each-ref", "refs/martlet"])
            #expect(held == "\(head) commit\trefs/martlet/kit/2\n")

            // when: the server no longer has it
            try store.restoreHolds(in: repository.pointer) { _ throws(SourceControlError) in true }

            // then
            #expect(!store.hasLostHolds)
        }
    }
}
