import Model
import TestSupport
import Testing

@testable import Integrations
@testable import Web

@Suite struct ReadinessTests {
    @Test(
        .proves(
            .operating,
            "`/ready` answers 200 when disk, database, launcher, sandbox and scans work, and 503 with the part that does not; `/health` says that the service is alive"
        ))
    func testThatItIsReadyOnceEachPartWasExamined() async throws {
        try await withWeb { web in
            // given
            let early = try await web.send("GET", "/ready")
            #expect(early.status == 503)
            expectContains(early.text, #""name":"start","ready":false"#)
            #expect(try await web.send("GET", "/health").status == 200)
            // when
            await web.operations.health.examine()
            // then
            let answer = try await web.send("GET", "/ready")
            #expect(answer.status == 200)
            expectContains(answer.text, #"{"ready":true,"checks":[{"name":"disk","ready":true,"reason":null}"#)
            #expect(!answer.text.contains("start"))
        }
    }

    @Test(
        .proves(
            .operating,
            "`/ready` names no path, secret or repository; `/api/v1/conditions` has each trouble with its remedy, for viewers"
        ))
    func testThatOutsidersSeeNoDetails() async throws {
        try await withWeb { web in
            // given
            await web.operations.health.examine()
            web.site.checks.isDamaged("\(web.state)/files/kit/1.0.0/kit.tar.gz", at: WebFixture.now)
            web.operations.health.watchFiles {
                [ServiceCondition(.disk, reason: "/srv/secret is full", remedy: "free /srv", stopsWork: true)]
            }
            // when
            let answer = try await web.send("GET", "/ready")
            // then
            #expect(answer.status == 503)
            expectContains(answer.text, #"{"name":"disk","ready":false,"reason":"the disk has too little room"}"#)
            #expect(!answer.text.contains("/srv"))
            #expect(try await web.send("GET", "/api/v1/conditions").status == 401)
            expectContains(try await web.json("/api/v1/conditions", as: .viewer), "/srv/secret is full")
        }
    }

    @Test func testThatADamagedPublishedFileIsACondition() async throws {
        try await withWeb { web in
            // when
            web.site.checks.isDamaged("\(web.state)/files/kit/1.0.0/kit.tar.gz", at: WebFixture.now)
            // then
            let text = try await web.json("/api/v1/conditions", as: .viewer)
            expectContains(text, #""kind":"file","subject":"kit/1.0.0/kit.tar.gz""#)
            expectContains(text, #""stopsWork":false"#)
        }
    }
}
