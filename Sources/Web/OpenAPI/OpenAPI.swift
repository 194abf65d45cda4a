import API
import HTTPTypes
import Model

/// `/openapi.json`, in OpenAPI 3.1. It is generated from the route table, so it lists exactly the existing routes, and from the types of the HTTP
/// interface (`Components`). Pages are left out.
struct OpenAPI: Sendable {
    let routes: [Route]
    let version: String
    /// The service's own URL.
    let url: String

    /// - Throws: If a type asks its decoder for something that a schema cannot have.
    func document() throws -> JSONValue {
        var components = Components()
        var requests: Set<String> = []
        let problem = try components.schema(of: API.Problem.self)
        var paths: [(path: String, operations: [JSONValue.Member])] = []
        for route in routes {
            let path = route.pattern.description.replacing("...}", with: "}")
            var members = Self.members(of: route, path)
            if let body = try Self.body(of: route, &components, &requests) {
                members.append(.init(key: "requestBody", value: body))
            }
            members.append(.init(key: "responses", value: try Self.responses(route, problem, &components)))
            let operation = JSONValue.Member(key: route.method.rawValue.lowercased(), value: .object(members))
            if let index = paths.firstIndex(where: { $0.path == path }) {
                paths[index].operations.append(operation)
            } else {
                paths.append((path, [operation]))
            }
        }
        return [
            "openapi": "3.1.0",
            "info": [
                "title": "Martlet", "version": .string(version),
                "description":
                    "The interface of a continuous integration service. /docs/reference/http-api has its rules.",
            ],
            "servers": [["url": .string(url)]],
            "tags": .array(
                Operation.Tag.allCases.map { ["name": .string($0.rawValue), "description": .string($0.text)] }),
            "paths": .object(paths.map { .init(key: $0.path, value: .object($0.operations)) }),
            "components": [
                "securitySchemes": [
                    "token": ["type": "http", "scheme": "bearer"],
                    "signature": ["type": "apiKey", "in": "header", "name": "X-Hub-Signature-256"],
                ],
                "schemas": .object(
                    components.objects.keys.sorted().map { name in
                        .init(key: name, value: components.json(of: name, isRequest: requests.contains(name)))
                    }),
            ],
        ]
    }

    /// Returns what an operation says beside its body and its answers.
    private static func members(of route: Route, _ path: String) -> [JSONValue.Member] {
        let security: JSONValue =
            switch route.access {
            case .open, .attempt: []
            case .read, .product: [[:], ["token": []]]
            case .role, .local, .form, .signIn: [["token": []]]
            case .signature: [["signature": []]]
            }
        let names = path.split(separator: "/").filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
        let inPath = names.map { PathParameter.json($0, in: path) }
        var more = (route.operation?.query ?? []).map(\.json)
        if case .media("text/event-stream")? = route.operation?.answer { more.append(lastEventID) }
        var members: [JSONValue.Member] = []
        if let operation = route.operation {
            members.append(.init(key: "operationId", value: .string(operation.id)))
            members.append(.init(key: "tags", value: [.string(operation.tag.rawValue)]))
        }
        return members + [
            .init(key: "summary", value: .string(route.summary)),
            .init(key: "x-role", value: .string(route.access.description)),
            .init(key: "security", value: security), .init(key: "parameters", value: .array(inPath + more)),
        ]
    }

    /// The header with which a stream continues (WHATWG HTML, section 9.2.4).
    private static let lastEventID: JSONValue = [
        "name": "Last-Event-ID", "in": "header", "required": false,
        "description": "The id of the last event that the client has.",
        "schema": ["type": "string", "maxLength": .integer(Int64(EventHistory.maximumIDBytes))],
    ]

    /// Returns the description of a request's body; `nil` if the route takes none.
    private static func body(
        of route: Route, _ components: inout Components, _ requests: inout Set<String>
    ) throws -> JSONValue? {
        if route.access == .signature {
            // The signature covers the bytes of a document of the forge's own.
            return ["required": true, "content": ["application/json": ["schema": ["type": "object"]]]]
        }
        guard let operation = route.operation, let type = operation.body else { return nil }
        let schema = try components.schema(of: type)
        var isRequired = false
        if case .object(let name) = schema {
            requests.insert(name)
            isRequired = components.hasRequiredMembers(name)
        }
        var content = [JSONValue.Member(key: "schema", value: schema.json)]
        if let example = operation.example { content.append(.init(key: "example", value: example)) }
        return ["required": .bool(isRequired), "content": ["application/json": .object(content)]]
    }

    private static func responses(
        _ route: Route, _ problem: Schema, _ components: inout Components
    ) throws -> JSONValue {
        .object([
            try Self.success(route, &components),
            .init(
                key: "default",
                value: [
                    "description": "A problem, in the form of RFC 9457.",
                    "content": ["application/problem+json": ["schema": problem.json]],
                ]),
        ])
    }

    private static func success(_ route: Route, _ components: inout Components) throws -> JSONValue.Member {
        let description = JSONValue.Member(key: "description", value: .string(route.summary))
        guard let operation = route.operation else { return .init(key: "2XX", value: .object([description])) }
        let content: JSONValue? =
            switch operation.answer {
            case .json(let type): ["application/json": ["schema": try components.schema(of: type).json]]
            case .media(let type):
                .object([.init(key: type, value: ["schema": ["type": type.hasSuffix("json") ? "object" : "string"]])])
            case .medias(let types): .object(types.map { .init(key: $0, value: [:]) })
            case .empty: nil
            }
        let members = content.map { [JSONValue.Member(key: "content", value: $0)] } ?? []
        return .init(key: String(operation.status), value: .object([description] + members))
    }
}

/// The parameters in the paths of routes. One name has one meaning, but for a number.
enum PathParameter {
    /// Returns a parameter as OpenAPI 3.1 has it. Nothing is found by a value that does not match its pattern.
    static func json(_ name: String, in path: String) -> JSONValue {
        let (text, pattern, example) = meaning(of: name, in: path)
        // An integration's number is a number in answers, so that both may be passed on.
        let isNumber = name == "number"
        var schema: [JSONValue.Member] = [.init(key: "type", value: isNumber ? ["string", "integer"] : "string")]
        if isNumber {
            schema.append(.init(key: "minimum", value: 1))
            schema.append(.init(key: "maximum", value: 999_999_999_999_999_999))
        }
        if let pattern { schema.append(.init(key: "pattern", value: .string("^\(pattern)$"))) }
        return [
            "name": .string(name), "in": "path", "required": true, "description": .string(text),
            "schema": .object(schema), "example": .string(example),
        ]
    }

    private static func meaning(of name: String, in path: String) -> (String, pattern: String?, example: String) {
        switch name {
        case "bot": ("The bot's name.", Name.pattern, "kit")
        case "configuration" where path.contains("/log/"):
            ("The configuration, or `_trigger-` and the name of a trigger.", "(_trigger-)?\(Name.pattern)", "debug")
        case "configuration", "job": ("The configuration.", Name.pattern, "debug")
        case "product": ("The product's name.", Name.pattern, "kit")
        case "number" where path.contains("/outbox/"): ("The message's number.", "[1-9][0-9]{0,17}", "12")
        case "number" where path.contains("/pull-requests/"):
            ("The forge's number of the pull request.", "[1-9][0-9]{0,17}", "7")
        case "number":
            ("The integration's number, or `latest`.", "([1-9][0-9]{0,17}|latest)", "latest")
        case "fingerprint":
            ("The issue's fingerprint, or at least its first 6 digits.", "[0-9a-f]{6,64}", "9f86d081884c7d65")
        case "version" where path.hasSuffix("/yank"):
            ("The version.", #"(0|[1-9][0-9]{0,8})[.](0|[1-9][0-9]{0,8})[.](0|[1-9][0-9]{0,8})"#, "1.4.2")
        case "version": ("A version, `latest`, or a range such as `~1.4`.", nil, "1.4.2")
        case "forge": ("The kind of forge.", nil, "github")
        case "scope": ("The package's scope.", nil, "acme")
        case "name": ("The name.", nil, "ann")
        default: ("The file's path.", nil, "kit.tar.zst")
        }
    }
}
