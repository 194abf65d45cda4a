import API
import Foundation
import JobProtocol
import Model
import Storage
import TestSupport
import Testing

@testable import Integrations
@testable import Notifications
@testable import Web

/// A webhook's body has the names of the API.
@Suite struct NoticeNamesTests {
    @Test(.proves(.notices, "Webhooks signed by Standard Webhooks; the interface's names; bounded"))
    func testThatAnIntegrationAndAnIssueAreTheInterfaces() throws {
        // given
        let name = try #require(Name("kit"))
        let commit = try #require(CommitID(String(repeating: "a", count: 40)))
        let time = Timestamp(secondsSinceEpoch: 1_772_366_400)
        var record = IntegrationRecord(
            id: IntegrationID(bot: name, number: 41), rowID: 1, repository: "/r", commit: commit,
            ref: RefName(branch: "main"), cause: .person, requestedBy: "ann",
            state: .completed(.testFailures, triggerFailed: true), run: 2, subject: "s", author: "a", reason: "because",
            queuedAt: time, startedAt: time, endedAt: time)
        record.summary = Model.Summary()
        record.summary?.counts.tests = 3
        record.summary?.change.errors = -1
        record.summary?.tally = TestTally(tests: 3, configurations: 2, failing: 1, flaky: 0, skipped: 1)
        let issue = Model.Issue(
            fingerprint: "f", status: .new,
            finding: Finding(category: .testFailure, message: "m\n\"", rule: "r", path: "p", line: 1, column: 2),
            age: 1,
            since: 41, configurations: [name],
            introducedBy: Model.Introduction(
                commit: commit, author: "a", email: "e", strategy: .blameLine, confidence: .low))
        let facts = NoticeFacts(
            transition: .broke, notice: name, integration: record, run: 2, issues: [issue], at: time, root: "https://ci"
        )
        // when
        let data = try #require(NoticePayload.json(of: facts)["data"])
        // then
        let told = try #require(data["integration"]?.members)
        try expect(told, within: API.Integration(record.outline, root: "http://ci.example"))
        try expect(try #require(data["issues"]?.elements?.first?.members), within: API.Issue(issue, at: time))
        #expect(told.count == 17)
    }

    /// Each member is the interface's member of the same name.
    private func expect(_ told: [String: JSON], within shown: some Encodable) throws {
        let shown = try JSON(JSONWriter.bytes(of: shown), limit: 1 << 20)
        for (key, value) in told { #expect(shown[key] == value, "\(key)") }
    }
}
