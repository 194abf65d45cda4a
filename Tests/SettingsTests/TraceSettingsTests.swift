import Model
import TestSupport
import Testing

@testable import Settings

@Suite struct TraceSettingsTests {
    private static func read(_ yaml: String) -> Reading<ServiceSettings> {
        SettingsReader.read(
            yaml: yaml, file: "/etc/martlet/martlet.yml",
            defaults: .system(processors: 8))
    }

    @Test(.proves(.settings, "`traces` of the settings names an OpenTelemetry collector; without it no trace is sent"))
    func testThatTracesAreOffUntilACollectorIsNamed() {
        #expect(Self.read("").value?.traces == nil)
        #expect(
            Self.read("traces: { endpoint: \"http://127.0.0.1:4318/\" }").value?.traces
                == TraceSettings(endpoint: "http://127.0.0.1:4318"))
        #expect(
            Self.read("traces: { endpoint: \"https://otel.acme.example\", authorization: otel }").value?.traces
                == TraceSettings(endpoint: "https://otel.acme.example", authorization: "otel"))
    }

    @Test(arguments: [
        ("traces: {}", "needs `endpoint`"), ("traces: { endpoint: otel }", "OTLP/HTTP receiver"),
        ("traces: { endpoint: \"ftp://otel/\" }", "OTLP/HTTP receiver"),
        ("traces: { endpoint: \"https://u:p@otel/\" }", "OTLP/HTTP receiver"),
        ("traces: { endpoint: \"http://otel.acme.example\" }", "without TLS"),
        (
            "traces: { endpoint: \"http://otel.acme.example\", insecure: true, authorization: otel }",
            "readable on the way"
        ),
    ])
    func testThatAWrongCollectorIsSaidSo(yaml: String, message: String) {
        let reading = Self.read(yaml)
        #expect(reading.diagnostics.contains { $0.message.contains(message) }, "\(reading.diagnostics)")
    }
}
