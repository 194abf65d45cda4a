import Foundation
import Model
import TestSupport
import Testing

/// The files of `deploy` for Prometheus and Grafana.
@Suite struct MonitoringFilesTests {
    private static func deploy(_ name: String) -> String { Project.root + "/deploy/" + name }

    /// The names of metrics in a text.
    private static func metrics(in text: String) -> Set<String> {
        Set(text.matches(of: /martlet_[a-z_]+/).map { String($0.output) })
    }

    @Test(
        .proves(
            .operating,
            "`deploy/prometheus-rules.yml` has an alert for each kind of trouble, and promtool finds no error in it"),
        .program("promtool"))
    func testThatPromtoolTakesTheRules() async throws {
        // when
        let result = try await run(["promtool", "check", "rules", Self.deploy("prometheus-rules.yml")])
        // then
        #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
    }

    @Test func testThatTheRulesNameThePathAtWhichThePackageInstallsThem() throws {
        // given
        let rules = try String(contentsOfFile: Self.deploy("prometheus-rules.yml"), encoding: .utf8)
        let examples = try String(contentsOfFile: Self.deploy("debian/martlet.examples"), encoding: .utf8)
        // then: dh_installexamples(1) copies them there
        expectContains(examples, "deploy/prometheus-rules.yml\n")
        expectContains(rules, "[/usr/share/doc/martlet/examples/prometheus-rules.yml]")
    }

    @Test func testThatEachKindOfTroubleHasAnAlert() throws {
        // given
        let rules = try String(contentsOfFile: Self.deploy("prometheus-rules.yml"), encoding: .utf8)
        // then
        for kind in ServiceCondition.Kind.allCases {
            expectContains(rules, #"martlet_conditions{kind="\#(kind.rawValue)"} > 0"#)
        }
    }

    @Test(
        .proves(
            .operating, "`deploy/grafana-dashboard.json` and the rules name no metric that `/metrics` does not have"))
    func testThatTheyNameOnlyMetricsThatThereAre() async throws {
        try await withWeb { web in
            // given
            let suffix = /_(bucket|sum|count)$/
            let shown = Self.metrics(in: try await web.json("/metrics"))
            let dashboard = try Data(contentsOf: URL(fileURLWithPath: Self.deploy("grafana-dashboard.json")))
            #expect(try JSONSerialization.jsonObject(with: dashboard) is [String: Any])
            let rules = try String(contentsOfFile: Self.deploy("prometheus-rules.yml"), encoding: .utf8)
            // when
            let named = Self.metrics(in: String(decoding: dashboard, as: UTF8.self) + rules)
            // then
            #expect(named.count > 10)
            for name in named {
                #expect(shown.contains(name) || shown.contains(String(name.replacing(suffix, with: ""))), "\(name)")
            }
        }
    }
}
