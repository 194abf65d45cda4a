import Foundation
import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// Coverage on the page, in the API and on the command line.
@Suite struct CoverageRoutesTests {
    /// Runs a test with the sample's three integrations, and two with coverage in `debug`.
    private func withSample(_ body: @Sendable (WebFixture) async throws -> Void) async throws {
        try await withWeb { web in
            try await SampleContent(web: web).fill()
            let old = [("a.c", 9, 10), ("b<i>.c", 8, 10), ("gone.c", 1, 1)]
            let new = [("a.c", 9, 10), ("b<i>.c", 3, 10), ("new.c", 0, 5)]
            for (number, files) in [old, new].enumerated() {
                let id = try await web.store.queue(
                    NewIntegration(
                        bot: SampleContent.kit, ref: RefName(branch: "main"), commit: SampleContent.commits[number],
                        cause: .push), at: WebFixture.now
                ).id
                _ = try await web.store.apply(.started, to: id, at: WebFixture.now)
                let attempt = try await web.store.addAttempt(to: id, job: SampleContent.debug, at: WebFixture.now).id
                let coverage = Coverage(
                    files: files.map { path, covered, total in
                        Coverage.File(
                            path: path, lines: .init(covered: covered, total: total),
                            branches: .init(covered: 1, total: 2))
                    })
                try await web.store.storeResults(
                    AttemptResults(coverage: coverage, analysis: "clean", tested: "all", verdict: .succeeded),
                    of: attempt, at: WebFixture.now)
                _ = try await web.store.apply(.completed(.succeeded, triggerFailed: false), to: id, at: WebFixture.now)
            }
            try await body(web)
        }
    }

    private static let path = "/api/v1/bots/kit/integrations/5/coverage"

    @Test(
        .proves(
            .reports,
            "Coverage is stored for each attempt and shown beside the configuration's last one: on the page, in the API and by `martlet show`"
        ))
    func testThatTotalsAndTheirChangeAreTold() async throws {
        try await withSample { web in
            let json = try await web.json(Self.path)
            #expect(
                json
                    == #"{"items":[{"configuration":"debug","attempt":1,"lines":{"covered":12,"total":25,"percent":48},"#
                    + #""functions":null,"branches":{"covered":3,"total":6,"percent":50},"files":3,"before":"kit#4","#
                    + #""linesBefore":{"covered":18,"total":21,"percent":85.714},"change":-37.714,"changedFiles":3}],"next":null}"#
                    + "\n")
            let first = try await web.json("/api/v1/bots/kit/integrations/4/coverage")
            expectContains(first, #""before":null,"linesBefore":null,"change":null,"changedFiles":null"#)
            #expect(
                try await web.json("/api/v1/bots/kit/integrations/1/coverage") == #"{"items":[],"next":null}"# + "\n")
        }
    }

    @Test func testThatFilesComeInPartsAndByChange() async throws {
        try await withSample { web in
            let first = try await web.json(Self.path + "/debug?limit=1")
            #expect(
                first
                    == #"{"items":[{"path":"a.c","lines":{"covered":9,"total":10,"percent":90},"functions":null,"#
                    + #""branches":{"covered":1,"total":2,"percent":50},"linesBefore":{"covered":9,"total":10,"percent":90},"#
                    + #""change":0}],"next":"1"}"# + "\n")
            let rest = try await web.json(Self.path + "/debug?limit=2&after=1")
            expectContains(rest, #""change":-50"#)
            expectContains(rest, #""next":null"#)
            let changed = try await web.json(Self.path + "/debug?changed")
            #expect(!changed.contains(#""path":"a.c""#))
            expectContains(changed, #""path":"new.c""#)
        }
    }

    @Test(arguments: ["/release", "/debug?attempt=2", "/debug?after=-1", "/none?limit=0"])
    func testThatWhatIsNotThereIsSaid(_ rest: String) async throws {
        try await withSample { web in
            let status = try await web.send("GET", Self.path + rest).status
            #expect(status == (rest.contains("after") || rest.contains("limit") ? 400 : 404))
        }
    }

    @Test(
        .proves(
            .reports,
            "Coverage is stored for each attempt and shown beside the configuration's last one: on the page, in the API and by `martlet show`"
        ))
    func testThatThePageShowsTotalsChangeAndTheWorstFiles() async throws {
        try await withSample { web in
            // when
            let page = try await web.send("GET", "/bots/kit/5").text
            // then
            expectContains(page, #"<b>48.0 %</b> <em class="bad">−37.7</em>"#)
            expectContains(page, "12 of 25 lines · branches 50.0 % · 3 files · 3 files changed")
            expectContains(page, #"against <a href="/bots/kit/4">#4</a>"#)
            let lost = #"<code>b&lt;i&gt;.c</code></th><td class="num">80.0 %</td><td class="num">30.0 %</td>"#
            expectContains(page, lost + #"<td class="num">−50.0</td>"#)
            let least = try #require(page.range(of: "Most lines that no test executes"))
            let rows = page[least.upperBound...]
            let (b, new) = (rows.range(of: "b&lt;i&gt;.c"), rows.range(of: "new.c"))
            #expect(try #require(b).lowerBound < (try #require(new)).lowerBound)
            expectContains(String(rows), #"<td class="num">5 lines</td>"#)
            // It is absent where there is none
            #expect(!(try await web.send("GET", "/bots/kit/1").text.contains("Coverage")))
        }
    }

    @Test(
        .proves(
            .reports,
            "Coverage is stored for each attempt and shown beside the configuration's last one: on the page, in the API and by `martlet show`"
        ))
    func testThatTheCommandLineShowsIt() async throws {
        try await withSample { web in
            let shown = try await martlet(["show", "kit#5"], web)
            expectContains(
                shown.stdout, "coverage debug  48.0 %  12 of 25 lines in 3 files  −37.7 points against kit#4\n")
            #expect(!(try await martlet(["show", "kit#1"], web).stdout.contains("coverage")))
        }
    }
}
