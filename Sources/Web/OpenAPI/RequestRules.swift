import Basics
import Integrations
import Model
import Storage

/// What the bodies of requests have to hold beyond the types of their members, in keywords of JSON Schema (2020-12). `/openapi.json` then says of
/// every body whether it is refused with 400.
enum RequestRules {
    private typealias Keyword = JSONValue.Member

    /// The keywords of members, by object and member.
    static let members: [String: [JSONValue.Member]] = [
        "CancelRequest.grace": [
            Keyword(key: "minimum", value: 0),
            Keyword(key: "maximum", value: .integer(Cancellation.Request.longestGrace.components.seconds)),
        ],
        "ApprovalRequest.commit": [pattern("^[0-9a-f]{40}$")],
        "TokenRequest.name": [pattern("^\(Name.pattern)$")],
        "TokenRequest.bots": [
            Keyword(key: "minItems", value: 1),
            Keyword(key: "maxItems", value: .integer(Int64(BotScope.maximumPatterns))),
            Keyword(
                key: "allOf",
                value: [["items": ["pattern": .string("^[a-z0-9._*?-]{1,\(Name.maximumLength)}$")]]]),
        ],
        "BotRenameRequest.name": [pattern("^\(Name.pattern)$")],
        "ResumeRequest.PublishedVersion.product": [pattern("^\(Name.pattern)$")],
        "ResumeRequest.PublishedVersion.version": [
            pattern(#"^(0|[1-9][0-9]{0,8})[.](0|[1-9][0-9]{0,8})[.](0|[1-9][0-9]{0,8})$"#)
        ],
        "MachineRerunRequest.since": [time], "SilenceRequest.until": [time],
        "SilenceRequest.for": [
            Keyword(key: "exclusiveMinimum", value: 0),
            Keyword(key: "maximum", value: .integer(Silence.longest.components.seconds)),
        ],
        "SilenceRequest.reason": words(Silence.maximumReasonBytes),
        "PauseRequest.reason": words(Pause.maximumReasonBytes),
        "DrainRequest.reason": words(Pause.maximumReasonBytes),
        "RerunRequest.tests": [
            pattern(#"^[^\u0000-\u001f\u007f-\u009f]+$"#),
            Keyword(key: "maxLength", value: .integer(Int64(Rerun.maximumFilterBytes))),
        ],
        "SecretsRequest.token": [pattern("^[0-9A-Za-z]{16,128}$")],
        "SecretsRequest.use": [pattern("^[0-9A-Za-z]{16,128}$")],
        "RerunRequest.names": [Keyword(key: "maxItems", value: .integer(Int64(Rerun.maximumTests)))],
    ]

    /// The keywords of objects whose members depend on each other.
    static let objects: [String: [JSONValue.Member]] = [
        "SilenceRequest": [anyOf([absent("until")], [absent("for")])],
        "ResumeRequest": [
            Keyword(
                key: "anyOf",
                value: [
                    .object([Keyword(key: "properties", value: .object([not("publishing")]))]),
                    ["properties": ["published": ["type": "array"]], "required": ["published"]],
                ])
        ],
        "RerunRequest": [
            Keyword(
                key: "allOf",
                value: [
                    .object([anyOf([absent("tests")], [none("names")])]),
                    .object([
                        anyOf([not("triggers")], [not("failed"), absent("tests"), none("names")])
                    ]),
                ])
        ],
    ]

    private static let time = Keyword(key: "format", value: "date-time")

    private static func pattern(_ pattern: String) -> Keyword { Keyword(key: "pattern", value: .string(pattern)) }

    /// Returns the keywords of a text that says something.
    private static func words(_ limit: Int) -> [Keyword] {
        // U+0085 is a space of Unicode, and none of ECMA-262.
        [pattern("[^\\s\\u0085]"), Keyword(key: "maxLength", value: .integer(Int64(limit)))]
    }

    private static func anyOf(_ choices: [Keyword]...) -> Keyword {
        Keyword(key: "anyOf", value: .array(choices.map { .object([Keyword(key: "properties", value: .object($0))]) }))
    }

    private static func absent(_ name: String) -> Keyword { Keyword(key: name, value: ["type": "null"]) }
    private static func not(_ name: String) -> Keyword { Keyword(key: name, value: ["enum": [.bool(false), .null]]) }
    private static func none(_ name: String) -> Keyword { Keyword(key: name, value: ["maxItems": 0]) }
}
