import BotSupport
import JobProtocol
import Model
import Storage
import TestSupport
import Testing

@testable import Integrations
@testable import Notifications

@Suite struct NoticeReadingTests {
    @Test(
        .proves(
            .notices, "Counts are of all issues, whatever is read and shown; mails say how many authors are not told"))
    func testThatAllAreCountedWhateverIsRead() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let store = try Store.open(path: directory.path("martlet.sqlite"))
            let time = Timestamp(secondsSinceEpoch: 1_772_366_400)
            let name = try Samples.name("kit")
            let notice = Notice(name: name, target: .webhook(url: "https://chat.example/hook", secret: "s"))
            try await store.register(
                [BotSpecification(name: name, repository: "https://git.example/kit.git", notices: [notice])], at: time)
            let id = try await store.queue(
                NewIntegration(bot: name, ref: RefName(branch: "main"), commit: try Samples.commit(1), cause: .person),
                at: time
            ).id
            try await store.apply(.started, to: id, at: time)
            // when: more of each kind than are read
            let kinds: [(Finding.Category, Model.Issue.Status, Int)] = [
                (.error, .new, 1200), (.testFailure, .new, 5), (.warning, .new, 3), (.error, .resolved, 1100),
                (.error, .unresolved, 2),
            ]
            let issues = try kinds.flatMap { category, status, count in
                try (0..<count).map { try NoticeSample.issue(category, "no \($0)", status: status) }
            }
            try await store.completeIssues(
                of: id, issues: issues, summary: Summary(), at: time,
                with: .completed(.buildErrors, triggerFailed: false))
            // then
            let message = try #require(try await store.outbox().items.first)
            let facts = try #require(
                try await NoticeReading(store: store, url: NoticeSample.root + "/").facts(of: message))
            #expect(facts.counts == .init(newTests: 5, newOthers: 1200, resolved: 1100))
            #expect(facts.issues.count == 2000)
            #expect(NoticePayload.json(of: facts)["data"]?["newIssues"]?.integer == 1205)
            try store.close()
        }
    }
}
