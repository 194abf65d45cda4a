import API
import HTTPTypes

/// `/openapi.json`, in OpenAPI 3.1. It is generated from the route table, so it lists exactly the existing routes, and from the types of the HTTP
/// interface (`Components`). Pages are left out.
struct OpenAPI: Sendable {
    let routes: [Route]
    let version: String

    /// - Throws: If a type asks its decoder for something that a schema cannot have.
    func document() throws -> JSONValue {
        var components = Components()
        var requests: Set<String> = []
        let problem = try components.schema(of: API.Problem.self)
        var paths: [(path: String, operations: [JSONValue.Member])] = []
        for route in routes {
            let path = route.pattern.description.replacing("...}", with: "}")
            var members = Self.members(of: route, path)
            if let type = route.operation?.body {
                let body = try components.schema(of: type)
                if case .object(let name) = body { requests.insert(name) }
                members.append(
                    .init(key: "requestBody", value: ["content": ["application/json": ["schema": body.json]]]))
            }
            members.append(
                .init(
                    key: "responses",
                    value: .object([
                        try Self.success(route, &components),
                        .init(
                            key: "default",
                            value: [
                                "description": "A problem.",
                                "content": ["application/problem+json": ["schema": problem.json]],
                            ]),
                    ])))
            let operation = JSONValue.Member(key: route.method.rawValue.lowercased(), value: .object(members))
            if let index = paths.firstIndex(where: { $0.path == path }) {
                paths[index].operations.append(operation)
            } else {
                paths.append((path, [operation]))
            }
        }
        return [
            "openapi": "3.1.0", "info": ["title": "Martlet", "version": .string(version)],
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
            case .open: []
            case .read, .product: [[:], ["token": []]]
            case .role: [["token": []]]
            case .signature: [["signature": []]]
            }
        let names = path.split(separator: "/").filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
        let inPath = names.map { name -> JSONValue in
            ["name": .string(name), "in": "path", "required": true, "schema": ["type": "string"]]
        }
        let inQuery = (route.operation?.query ?? []).map { parameter -> JSONValue in
            [
                "name": .string(parameter.name), "in": "query", "required": .bool(parameter.isRequired),
                "description": .string(parameter.text), "schema": parameter.schema.json,
            ]
        }
        var members: [JSONValue.Member] = []
        if let operation = route.operation {
            members.append(.init(key: "operationId", value: .string(operation.id)))
            members.append(.init(key: "tags", value: [.string(operation.tag.rawValue)]))
        }
        return members + [
            .init(key: "summary", value: .string(route.summary)),
            .init(key: "x-role", value: .string(route.access.description)),
            .init(key: "security", value: security), .init(key: "parameters", value: .array(inPath + inQuery)),
        ]
    }

    private static func success(_ route: Route, _ components: inout Components) throws -> JSONValue.Member {
        let description = JSONValue.Member(key: "description", value: "As the summary says.")
        guard let operation = route.operation else { return .init(key: "2XX", value: .object([description])) }
        let content: JSONValue? =
            switch operation.answer {
            case .json(let type): ["application/json": ["schema": try components.schema(of: type).json]]
            case .media(let type): .object([.init(key: type, value: [:])])
            case .empty: nil
            }
        let members = content.map { [JSONValue.Member(key: "content", value: $0)] } ?? []
        return .init(key: String(operation.status), value: .object([description] + members))
    }
}
