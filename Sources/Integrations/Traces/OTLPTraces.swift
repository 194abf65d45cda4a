import JobProtocol
import Model

/// Traces as OTLP/HTTP sends them, in JSON (opentelemetry.io/docs/specs/otlp, "JSON Protobuf Encoding"): ids in hexadecimal digits, 64-bit numbers as
/// strings.
enum OTLPTraces {
    private static let schema = "https://opentelemetry.io/schemas/1.37.0"

    /// Returns the body of a request.
    /// - Parameter version: The service's version.
    static func body(_ traces: [IntegrationTrace], version: String) -> [UInt8] {
        JSON.object([
            "resourceSpans": .array(
                traces.map { trace in
                    var resource = trace.attributes
                    resource["service.name"] = "martlet"
                    resource["service.version"] = version
                    return .object([
                        "resource": .object(["attributes": attributes(resource)]), "schemaUrl": .string(schema),
                        "scopeSpans": .array([
                            .object([
                                "scope": .object(["name": .string("martlet"), "version": .string(version)]),
                                "schemaUrl": .string(schema),
                                "spans": .array(trace.spans.map { span($0, in: trace.id) }),
                            ])
                        ]),
                    ])
                })
        ]).bytes()
    }

    private static func span(_ span: TraceSpan, in trace: String) -> JSON {
        var members: [String: JSON] = [
            "traceId": .string(trace), "spanId": .string(span.id), "name": .string(cut(span.name)),
            "kind": .integer(span.kind.rawValue), "startTimeUnixNano": nanoseconds(span.start),
            // A clock that was set back makes no negative duration.
            "endTimeUnixNano": nanoseconds(max(span.start, span.end)), "attributes": attributes(span.attributes),
        ]
        if let parent = span.parent { members["parentSpanId"] = .string(parent) }
        if span.isError {
            // STATUS_CODE_ERROR in trace.proto.
            members["status"] = .object(["code": .integer(2), "message": .string(cut(span.message ?? ""))])
        }
        return .object(members)
    }

    private static func attributes(_ values: [String: String]) -> JSON {
        .array(
            values.sorted { $0.key < $1.key }.map { key, value in
                .object(["key": .string(key), "value": .object(["stringValue": .string(cut(value))])])
            })
    }

    private static func nanoseconds(_ time: Timestamp) -> JSON { .string("\(time.millisecondsSinceEpoch)000000") }

    /// Shortens a text that a commit or a job wrote.
    private static func cut(_ text: String) -> String {
        text.utf8.count <= IntegrationTrace.maximumBytes
            ? text : String(decoding: text.utf8.prefix(IntegrationTrace.maximumBytes), as: UTF8.self) + "…"
    }
}
