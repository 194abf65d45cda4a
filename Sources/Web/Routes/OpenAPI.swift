import HTTPTypes

/// `/openapi.json`. It is generated from the route table, so it lists exactly the existing routes.
struct OpenAPI: Sendable {
    let routes: [Route]
    let version: String

    var document: JSONValue {
        var paths: [(String, [Route])] = []
        for route in routes {
            let path = route.pattern.description.replacing("...}", with: "}")
            if let index = paths.firstIndex(where: { $0.0 == path }) {
                paths[index].1.append(route)
            } else {
                paths.append((path, [route]))
            }
        }
        return [
            "openapi": "3.1.0", "info": ["title": "Martlet", "version": .string(version)],
            "paths": .object(
                paths.map { path, routes in
                    .init(
                        key: path,
                        value: .object(
                            routes.map { .init(key: $0.method.rawValue.lowercased(), value: Self.operation($0, path)) })
                    )
                }),
            "components": [
                "securitySchemes": [
                    "token": ["type": "http", "scheme": "bearer"],
                    "signature": ["type": "apiKey", "in": "header", "name": "X-Hub-Signature-256"],
                ],
                "schemas": [
                    "Problem": [
                        "type": "object", "required": ["type", "title", "status", "detail"],
                        "properties": [
                            "type": ["type": "string"], "title": ["type": "string"], "status": ["type": "integer"],
                            "detail": ["type": "string"],
                        ],
                    ]
                ],
            ],
        ]
    }

    private static func operation(_ route: Route, _ path: String) -> JSONValue {
        let names = path.split(separator: "/").filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
        let security: JSONValue =
            switch route.access {
            case .open: []
            case .read, .product: [[:], ["token": []]]
            case .role: [["token": []]]
            case .signature: [["signature": []]]
            }
        return [
            "summary": .string(route.summary), "x-role": .string(route.access.description), "security": security,
            "parameters": .array(
                names.map {
                    ["name": .string($0), "in": "path", "required": true, "schema": ["type": "string"]]
                }),
            "responses": [
                "2XX": ["description": "As the summary says."],
                "default": [
                    "description": "A problem.",
                    "content": ["application/problem+json": ["schema": ["$ref": "#/components/schemas/Problem"]]],
                ],
            ],
        ]
    }
}
