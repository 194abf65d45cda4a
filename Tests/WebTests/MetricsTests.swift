import TestSupport
import Testing

@testable import Web

@Suite struct MetricsTests {
    /// kit#1 to kit#3 of the sample each wait a second and take 40.
    private static func withFigures(_ body: @Sendable (WebFixture, String) async throws -> Void) async throws {
        try await withWeb { web in
            try await SampleContent(web: web).fill()
            await until { web.site.figures.figures.integrations.sorted.map(\.histogram.count).reduce(0, +) == 3 }
            try await body(web, try await web.json("/metrics"))
        }
    }

    @Test(
        .proves(
            .web,
            "`/metrics` has histograms of how long integrations waited and took, and steps took, by bot and result"))
    func testThatHistogramsSayHowLongIntegrationsWaitedAndTook() async throws {
        try await Self.withFigures { _, text in
            for line in [
                #"martlet_integration_queue_seconds_bucket{bot="kit",result="test-failures",le="0.5"} 0"#,
                #"martlet_integration_queue_seconds_bucket{bot="kit",result="test-failures",le="1"} 1"#,
                #"martlet_integration_seconds_bucket{bot="kit",result="test-failures",le="30"} 0"#,
                #"martlet_integration_seconds_bucket{bot="kit",result="test-failures",le="60"} 1"#,
                #"martlet_integration_seconds_bucket{bot="kit",result="test-failures",le="+Inf"} 1"#,
                #"martlet_integration_seconds_sum{bot="kit",result="test-failures"} 40"#,
                #"martlet_integration_seconds_count{bot="kit",result="succeeded"} 1"#,
            ] {
                #expect(text.contains(line + "\n"), "\(line)")
            }
            #expect(text.contains(#"martlet_step_seconds_count{bot="kit",step="testing",result="failed"}"#))
        }
    }

    @Test(
        .proves(
            .web, "Prometheus's own `promtool` finds nothing to improve in `/metrics`; what only grows is a counter"),
        .program("promtool"))
    func testThatPromtoolFindsNothing() async throws {
        try await Self.withFigures { web, text in
            // given
            try web.directory.write("metrics", text)
            // when
            let result = try await run(["sh", "-c", "promtool check metrics < \"$0\"", web.directory.path("metrics")])
            // then
            #expect(result.status == 0)
            #expect("\(result.stdout)\(result.stderr)" == "")
            let counters = text.split(separator: "\n").filter { $0.hasPrefix("# TYPE") && $0.hasSuffix(" counter") }
            #expect(counters.count == 4)
            #expect(counters.allSatisfy { $0.hasSuffix("_total counter") })
        }
    }

    @Test(.proves(.badInput, "The metrics have at most 500 label sets each, however many bots there are"))
    func testThatManyBotsShareOneLabel() {
        // given
        var family = WorkFigures.Family()
        // when
        for number in 0..<2000 { family.observe(1, .init(bot: "bot\(number)", result: "succeeded")) }
        family.observe(3, .init(bot: "bot7", result: "succeeded"))
        // then
        #expect(family.histograms.count == WorkFigures.maximumSets + 1)
        #expect(family.histograms[.init(bot: WorkFigures.others, result: "succeeded")]?.count == 1500)
        #expect(family.histograms[.init(bot: "bot7", result: "succeeded")]?.sum == 4)
    }

    @Test func testThatABucketHoldsItsLimitAndAHistogramCountsWhatIsBeyond() {
        var histogram = Histogram()
        for seconds in [-1, 0.5, 0.6, 7200, 7201] { histogram.observe(seconds) }
        #expect(histogram.counts.first == 2)
        #expect(histogram.counts[1] == 1)
        #expect(histogram.counts.last == 1)
        #expect(histogram.count == 5)
        #expect(histogram.sum == 14402.1)
    }

    @Test func testThatALabelCannotBreakOut() {
        var text = MetricsText()
        text.add("a", .gauge, "A.", [.init(1.5, ("b", "x\"} 1\ny\\"))])
        #expect(text.text == "# HELP a A.\n# TYPE a gauge\na{b=\"x\\\"} 1\\ny\\\\\"} 1.5\n")
    }

    /// shields.io/badges/endpoint-badge: other members are refused.
    @Test(.proves(.web, "`/badge/BOT.json` has the latest result in the endpoint schema of shields.io"))
    func testThatABadgeIsThereForShields() async throws {
        try await Self.withFigures { web, _ in
            let answer = try await web.send("GET", "/badge/kit.json?branch=main")
            #expect(answer["Content-Type"] == "application/json; charset=utf-8")
            #expect(
                answer.text == #"{"schemaVersion":1,"label":"kit","message":"warnings","color":"8a6100","#
                    + #""isError":false,"cacheSeconds":300}"# + "\n")
            try await web.expect(404, "GET", "/badge/kit.txt")
            try await web.expect(404, "GET", "/badge/nothing.json")
        }
    }
}
