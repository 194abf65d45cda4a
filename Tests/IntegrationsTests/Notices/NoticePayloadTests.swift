import BotSupport
import JobProtocol
import Model
import Storage
import TestSupport
import Testing

@testable import Integrations
@testable import Notifications

@Suite struct NoticePayloadTests {
    @Test(.proves(.notices, "Webhooks signed by Standard Webhooks; the interface's names; bounded"))
    func testThatItSaysWhatTheInterfaceSaysByTheSameNames() throws {
        // given
        var facts = try NoticeSample.facts(
            .fixed, verdict: .succeeded,
            issues: [
                NoticeSample.issue(.error, "no \"x\"\n", rule: "r", path: "a.c", line: 1, status: .resolved, by: "Ann")
            ])
        facts.brokenBy = .init(number: 39, run: 1)
        // when
        let text = String(decoding: NoticePayload.json(of: facts).bytes(), as: UTF8.self)
        // then
        let counts =
            #""analyzerWarnings":0,"analyzerWarningsChange":0,"errors":1,"errorsChange":1,"flakyTests":0,"#
            + #""flakyTestsChange":0,"tally":null,"testFailures":2,"testFailuresChange":0,"tests":120,"testsChange":0,"warnings":0,"#
            + #""warningsChange":0"#
        let commit = "0000000000000000000000000000000000000041"
        expectNoDifference(
            text,
            #"{"data":{"brokenBy":39,"integration":{"author":"Ann","bot":"kit","cause":"push","commit":"\#(commit)","#
                + #""ended":null,"number":41,"queued":"2026-03-01T12:00:00.000Z","reason":null,"ref":"refs/heads/main","#
                + #""requestedBy":null,"result":"succeeded","run":1,"started":null,"state":"completed","#
                + #""subject":"Read the new form","summary":{\#(counts)},"verdict":"succeeded"},"#
                + #""issues":[{"age":1,"category":"error","column":null,"configurations":["debug"],"fingerprint":"f","#
                + #""introducedBy":{"author":"Ann","commit":"\#(commit)","confidence":"high","email":"ann@acme.example","#
                + #""strategy":"blameLineAgainstCommits"},"line":1,"message":"no \"x\"\n","path":"a.c","rule":"r","#
                + #""since":41,"status":"resolved"}],"newIssues":0,"notice":"team","#
                + #""url":"https://ci.acme.example/bots/kit/41","version":null},"#
                + #""timestamp":"2026-03-01T12:02:00.000Z","type":"integration.fixed"}"#)
    }

    @Test func testThatItIsBounded() throws {
        let long = String(repeating: "ä", count: 16_000)
        let issues = try (0..<1000).map { _ in try NoticeSample.issue(.error, long) }
        var facts = try NoticeSample.facts(.broke, verdict: .buildErrors, issues: issues)
        facts.counts.newOthers = 5000
        let bytes = NoticePayload.json(of: facts).bytes()
        #expect(bytes.count < 200_000)
        let data = try JSON(bytes, limit: 1 << 20)["data"]
        #expect(data?["issues"]?.elements?.count == 50)
        #expect(data?["newIssues"]?.integer == 5000)
    }

    @Test func testThatEachMessageHasOneNameForEver() throws {
        // given
        let facts = try NoticeSample.facts(.fixed, verdict: .succeeded)
        var broke = try NoticeSample.facts(.broke, verdict: .testFailures)
        broke.integration = try Samples.integration(39)
        broke.run = 2
        var later = facts
        later.at = Timestamp(secondsSinceEpoch: 0)
        // then
        #expect(facts.id == later.id)
        let others: [(inout NoticeFacts) throws -> Void] = [
            { $0.run = 2 }, { $0.transition = .newIssue }, { $0.notice = try Samples.name("chat") },
            { $0.integration.id = IntegrationID(bot: try Samples.name("kit"), number: 42) },
            { $0.root = "https://other" },
        ]
        for change in others {
            var other = facts
            try change(&other)
            #expect(other.id != facts.id)
        }
        later.brokenBy = .init(number: 39, run: 2)
        #expect(later.brokenID == broke.id)
    }

    @Test(.proves(.notices, "Webhooks signed by Standard Webhooks; the interface's names; bounded"))
    func testThatASignatureIsWhatARecipientChecks() throws {
        // given: the example of the specification (standard-webhooks, "Signature scheme").
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        let body = Array(#"{"test": 2432232314}"#.utf8)
        // when
        let header = StandardWebhookSignature.header(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", seconds: 1_614_265_330, body: body, secret: secret)
        // then
        #expect(header == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
        for none in ["", "whsec_", "whsec_*", "hunter2"] {
            #expect(StandardWebhookSignature.header(id: "m", seconds: 1, body: body, secret: none) == nil)
        }
    }

    @Test(.proves(.notices, "During the overlap of a rotation, a webhook has a signature for each of the two keys"))
    func testThatARequestHasASignatureForEachKeyOfARotation() throws {
        // given
        let (old, new) = ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_AAAA")
        func header(_ secrets: [String]) -> String? {
            StandardWebhookSignature.header(id: "msg_1", seconds: 1, body: [0x78], secrets: secrets)
        }
        // then
        let (first, second) = (try #require(header([new])), try #require(header([old])))
        #expect(header([new, old]) == "\(first) \(second)")
        #expect(header([new, "none"]) == first)
        #expect(header(["none", old]) == nil)
        #expect(header([]) == nil)
    }
}
