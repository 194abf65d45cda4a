import Foundation
import Model
import Storage
import TestSupport
import Testing

@testable import Web

@Suite struct ConditionalAnswersTests {
    /// RFC 9110, sections 13.1.2 and 15.4.5.
    @Test(
        .proves(.web, "Lists and other JSON answers have an `ETag`; a client that has the answer gets 304"),
        arguments: ["/api/v1/bots", "/api/v1/integrations", "/api/v1/bots/kit/integrations/1", "/api/v1/ref-updates"])
    func testThatAClientThatHasAnAnswerIsToldSo(path: String) async throws {
        try await withWeb { web in
            // given
            let sample = SampleContent(web: web)
            try await sample.fill()
            let whole = try await web.send("GET", path)
            let tag = try #require(whole["ETag"])
            // when
            let again = try await web.send("GET", path, headers: [("If-None-Match", tag)])
            let head = try await web.send("HEAD", path, headers: [("If-None-Match", "\"x\", W/\(tag)")])
            // then
            #expect(again.status == 304)
            #expect(again.body.isEmpty)
            #expect(again["ETag"] == tag)
            #expect(head.status == 304)
            try await web.expect(200, "GET", path, headers: [("If-None-Match", "\"other\"")])
        }
    }

    @Test func testThatAChangeChangesTheTag() async throws {
        try await withWeb { web in
            // given
            let sample = SampleContent(web: web)
            try await sample.fill()
            let tag = try #require(try await web.send("GET", "/api/v1/integrations")["ETag"])
            // when
            let new = NewIntegration(
                bot: SampleContent.kit, ref: RefName(branch: "main"), commit: SampleContent.commits[0], cause: .person)
            _ = try await web.store.queue(new, at: WebFixture.now)
            // then
            let answer = try await web.send("GET", "/api/v1/integrations", headers: [("If-None-Match", tag)])
            #expect(answer.status == 200)
            #expect(answer["ETag"] != tag)
        }
    }

    @Test(.proves(.web, "Answers of the interface have an `id`, the `url` of their page and a `duration` in seconds"))
    func testThatAnAnswerSaysWhereItsPageIsAndHowLongItTook() async throws {
        try await withWeb { web in
            // given
            try await SampleContent(web: web).fill()
            // when
            let path = "/api/v1/bots/kit/integrations/1"
            let object = try JSONSerialization.jsonObject(with: Data(try await web.send("GET", path).body))
            let integration = try #require(object as? [String: Any])
            let configurations = try #require(integration["configurations"] as? [[String: Any]])
            // then
            #expect(integration["id"] as? String == "kit#1")
            #expect(integration["url"] as? String == "http://ci.example/bots/kit/1")
            let started = try Self.date(integration["started"])
            let ended = try Self.date(integration["ended"])
            #expect(integration["duration"] as? Double == ended.timeIntervalSince(started))
            for configuration in configurations {
                let url = try #require(configuration["url"] as? String)
                try await web.expect(200, "GET", String(url.dropFirst("http://ci.example".count)))
                #expect(configuration["duration"] is Double)
            }
        }
    }

    private static func date(_ value: Any?) throws -> Date {
        try Date(try #require(value as? String), strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
