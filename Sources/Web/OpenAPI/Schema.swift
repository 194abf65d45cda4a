import Model

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

    /// Whether an object has a member that a request has to state.
    func hasRequiredMembers(_ name: String) -> Bool { !required(of: name, isRequest: true).isEmpty }

    private func required(of name: String, isRequest: Bool) -> [Schema.Member] {
        (objects[name] ?? []).filter { member in
            if case .nullable = member.schema { !isRequest } else { true }
        }
    }

    /// Returns the schema of an object. An answer has every member, with null for a property that is `nil`. A request may leave those out, and has no
    /// other members.
    func json(of name: String, isRequest: Bool) -> JSONValue {
        let properties = (objects[name] ?? []).map { member in
            JSONValue.Member(key: member.name, value: Self.json(of: member, in: name))
        }
        var members: [JSONValue.Member] = [.init(key: "type", value: "object")]
        if let text = MemberTexts.ofProgram[name] { members.append(.init(key: "description", value: .string(text))) }
        members.append(
            .init(
                key: "required", value: .array(required(of: name, isRequest: isRequest).map { .string($0.name) })))
        members.append(.init(key: "properties", value: .object(properties)))
        if isRequest { members.append(.init(key: "additionalProperties", value: false)) }
        members += RequestRules.objects[name] ?? []
        return .object(members)
    }

    /// Returns the schema of a member, with its description, its words and an example.
    private static func json(of member: Schema.Member, in object: String) -> JSONValue {
        let words = MemberWords.of(member.name, in: object)
        guard case .object(var members) = words.map({ worded(member.schema, $0) }) ?? member.schema.json else {
            return member.schema.json
        }
        if let text = MemberWords.find(member.name, of: object, in: MemberTexts.ofProgram) {
            members.append(.init(key: "description", value: .string(text)))
        }
        members += RequestRules.members["\(object).\(member.name)"] ?? []
        // A name of the service. Its examples elsewhere are names of tests.
        if object == "TokenRequest", member.name == "name" {
            members.append(.init(key: "examples", value: ["ann"]))
        } else if words == nil, let example = MemberExamples.of(member) {
            members.append(.init(key: "examples", value: [example]))
        }
        return .object(members)
    }

    /// Returns the schema of a string, or of an array of strings, that takes these words only.
    private static func worded(_ schema: Schema, _ words: [String]) -> JSONValue {
        switch schema {
        case .nullable(let inner): ["anyOf": [worded(inner, words), ["type": "null"]]]
        case .array(let element): ["type": "array", "items": worded(element, words)]
        default: ["type": "string", "enum": .array(words.map { .string($0) })]
        }
    }
}
