import Foundation
import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// The list of events as users and programs see it.
@Suite struct DeliveriesTests {
    @Test(
        .proves(
            .intake,
            "`/deliveries` shows each event with its ref updates and outcomes; every watched tip has its integration or its reason within 60 s of a start"
        ))
    func testThatEachEventIsShownWithItsUpdatesAndTheirOutcomes() async throws {
        let file = "repository: https://git.example/acme/kit.git\nbranches: [main]\n"
        try await withWeb(bots: ["kit": file]) { web in
            // given: one push of two branches, of which one is watched
            func commit(_ digit: String) throws -> CommitID {
                try #require(CommitID(String(repeating: digit, count: 40)))
            }
            let (repository, kit) = ("https://git.example/acme/kit.git", try #require(Name("kit")))
            let (main, topic) = (RefName(branch: "main"), RefName(branch: "topic"))
            func scan(_ heads: [RefName: CommitID]) async throws {
                try await web.store.requestScans(at: [repository])
                let request = try #require(
                    try await web.store.repositoriesToScan().first { $0.repository == repository })
                _ = try await web.store.apply(
                    RefScan(
                        request: request, heads: heads, defaultBranch: main, at: WebFixture.now, cause: .push,
                        watchers: [
                            Watcher(
                                bot: kit, patterns: "main", watches: { $0 == main }, isRelease: { _ in false },
                                supersede: { _ in .never })
                        ]))
            }
            try await scan([main: commit("1")])
            _ = try await web.store.record(
                NewEvent(
                    repository: repository, bot: kit, source: .webhook, hook: "github/kit", deliveryID: "d-1",
                    event: "push", receivedAt: WebFixture.now,
                    claims: [
                        RefClaim(ref: main, before: commit("1"), after: commit("2")),
                        RefClaim(ref: topic, before: nil, after: commit("3")),
                    ]))
            try await scan([main: commit("2"), topic: commit("3")])
            // when
            let answer = try await web.json("/api/v1/deliveries")
            let page = try await web.send("GET", "/deliveries").text
            // then: exactly these keys
            let first = try #require(answer.firstRange(of: "{\"id\":\"d-1\"")).lowerBound
            #expect(
                answer[first...].hasPrefix(
                    #"{"id":"d-1","source":"webhook","hook":"github/kit","event":"push","received":"\#(WebFixture.now)","#
                        + #""fate":"integrated","reason":null,"refUpdates":["#
                        + #"{"ref":"refs/heads/main","generation":2,"before":"\#(try commit("1"))","after":"\#(try commit("2"))","#
                        + #""fate":"integrated","reason":null,"integrations":["kit#2"]},"#
                        + #"{"ref":"refs/heads/topic","generation":1,"before":null,"after":"\#(try commit("3"))","#
                        + #""fate":"ignored","reason":"no bot watches this ref","integrations":[]}]}"#), "\(answer)")
            for text in [
                "github/kit", "d-1", "main", "11111111", "22222222", #"href="/bots/kit/2""#, "topic", "33333333",
                "integrated", "ignored", "no bot watches this ref",
            ] { expectContains(page, text) }
        }
    }

    @Test func testThatWhatAPersonAskedForLeadsToItsIntegration() async throws {
        let file = "repository: https://git.example/acme/kit.git\n"
        try await withWeb(bots: ["kit": file]) { web in
            // given
            _ = try await web.store.record(
                NewEvent(
                    repository: "https://git.example/acme/kit.git", bot: Name(nearest: "kit"), source: .person,
                    hook: "person", event: "integrate", receivedAt: WebFixture.now, outcome: .integrated,
                    reason: "kit#3, asked for by Ann, who is here"))
            // when
            let page = try await web.send("GET", "/deliveries").text
            // then
            expectContains(page, "<td>person</td>")
            expectContains(page, #"<span class="quiet">asked for by Ann, who is here</span>"#)
            expectContains(page, #"<a href="/bots/kit/3">kit#3</a>"#)
        }
    }
}
