/// The JSON Schema of a type of the HTTP interface.
indirect enum Schema: Sendable, Hashable {
    case string
    /// A string in RFC 3339.
    case time
    case integer
    case number
    case boolean
    case array(of: Schema)
    /// An object whose names are data.
    case map(of: Schema)
    /// An object of `Components`, by its name.
    case object(String)
    /// The schema, or null.
    case nullable(Schema)

    /// A member of an object.
    struct Member: Sendable, Hashable {
        let name: String
        /// Nullable for an optional property.
        let schema: Schema
    }

    /// The schema as OpenAPI 3.1 has it, which is JSON Schema 2020-12.
    var json: JSONValue {
        switch self {
        case .string: ["type": "string"]
        case .time: ["type": "string", "format": "date-time"]
        case .integer: ["type": "integer"]
        case .number: ["type": "number"]
        case .boolean: ["type": "boolean"]
        case .array(let element): ["type": "array", "items": element.json]
        case .map(let value): ["type": "object", "additionalProperties": value.json]
        case .object(let name): ["$ref": .string("#/components/schemas/\(name)")]
        case .nullable(let schema): ["anyOf": [schema.json, ["type": "null"]]]
        }
    }
}

/// The objects of the interface, by name. Each type gets its schema from its own `init(from:)`: a decoder hands out empty values, and records which
/// keys and types the type asks for. A schema can therefore not differ from its type.
struct Components: Sendable {
    /// The members of each object, in the order of its properties.
    private(set) var objects: [String: [Schema.Member]] = [:]

    /// Returns the schema of a type, and adds the objects in it.
    /// - Throws: `DecodingError` for a type that asks for a nested container, and what a type throws about empty values.
    mutating func schema<Value: Decodable>(of type: Value.Type) throws -> Schema {
        let recorder = SchemaRecorder()
        let schema = try recorder.record(type).schema
        objects.merge(recorder.objects) { first, _ in first }
        return schema
    }

    /// Returns the members of a type that is an object.
    /// - Returns: An empty array for other types.
    static func members<Value: Decodable>(of type: Value.Type) throws -> [Schema.Member] {
        var components = Components()
        guard case .object(let name) = try components.schema(of: type) else { return [] }
        return components.objects[name] ?? []
    }

    /// Returns the schema of an object. An answer has every member, with null for a property that is `nil`. A request may leave those out.
    func json(of name: String, isRequest: Bool) -> JSONValue {
        let members = objects[name] ?? []
        let required = members.filter { member in
            if case .nullable = member.schema { !isRequest } else { true }
        }
        return [
            "type": "object", "required": .array(required.map { .string($0.name) }),
            "properties": .object(members.map { .init(key: $0.name, value: $0.schema.json) }),
        ]
    }
}
