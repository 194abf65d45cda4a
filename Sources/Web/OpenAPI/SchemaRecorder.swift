import API

/// Records what types ask of their decoder.
final class SchemaRecorder {
    /// The members of each object that was recorded, by its name.
    private(set) var objects: [String: [Schema.Member]] = [:]

    /// What one value asks for.
    private final class Notes {
        var members: [Schema.Member] = []
        /// The schema of a value that is no object.
        var schema: Schema?
        /// Whether the value asked if it is null.
        var isNullable = false
        /// Whether the value asked for all names of an object.
        var isMap = false
        var isObject = false

        /// Takes the answer to whether the value asked for null before it asked for this schema.
        func taken(_ schema: Schema) -> Schema {
            defer { isNullable = false }
            return isNullable ? .nullable(schema) : schema
        }
    }

    /// Returns the schema of a type, and an empty value of it.
    func record<Value: Decodable>(_ type: Value.Type) throws -> (schema: Schema, value: Value) {
        let notes = Notes()
        let value = try Value(from: Recording(recorder: self, notes: notes))
        if type == API.Time.self { return (.time, value) }
        if notes.isMap, let member = notes.members.first { return (.map(of: member.schema), value) }
        guard notes.isObject else { return (notes.schema ?? .string, value) }
        let name = Self.name(of: type)
        objects[name] = notes.members
        return (.object(name), value)
    }

    /// Returns the name of a type without its module, such as `Configuration.Step` and `List.Issue`.
    private static func name(of type: any Any.Type) -> String {
        String(reflecting: type).replacing("API.", with: "").replacing("<", with: ".").replacing(">", with: "")
    }

    private static func refusal(_ what: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: [], debugDescription: "a schema has no \(what)"))
    }

    private struct Recording: Decoder, SingleValueDecodingContainer {
        let recorder: SchemaRecorder
        let notes: Notes

        var codingPath: [any CodingKey] { [] }
        var userInfo: [CodingUserInfoKey: Any] { [:] }

        func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
            notes.isObject = true
            return KeyedDecodingContainer(Members(recorder: recorder, notes: notes))
        }

        func unkeyedContainer() -> any UnkeyedDecodingContainer { Elements(recorder: recorder, notes: notes) }
        func singleValueContainer() -> any SingleValueDecodingContainer { self }

        func decodeNil() -> Bool {
            notes.isNullable = true
            return false
        }

        private func take<Value>(_ schema: Schema, _ value: Value) -> Value {
            notes.schema = notes.taken(schema)
            return value
        }

        func decode(_ type: Bool.Type) -> Bool { take(.boolean, false) }
        func decode(_ type: String.Type) -> String { take(.string, "") }
        func decode(_ type: Double.Type) -> Double { take(.number, 0) }
        func decode(_ type: Float.Type) -> Float { take(.number, 0) }
        func decode<Number: FixedWidthInteger & Decodable>(_ type: Number.Type) -> Number { take(.integer, 0) }

        func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
            let (schema, value) = try recorder.record(type)
            return take(schema, value)
        }
    }

    private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let recorder: SchemaRecorder
        let notes: Notes

        var codingPath: [any CodingKey] { [] }

        /// One name, so that a map asks for the value of one.
        var allKeys: [Key] {
            notes.isMap = true
            return [Key(stringValue: "name")].compactMap(\.self)
        }

        func contains(_ key: Key) -> Bool { true }

        func decodeNil(forKey key: Key) -> Bool {
            notes.isNullable = true
            return false
        }

        private func take<Value>(_ schema: Schema, _ key: Key, _ value: Value) -> Value {
            notes.members.append(.init(name: key.stringValue, schema: notes.taken(schema)))
            return value
        }

        func decode(_ type: Bool.Type, forKey key: Key) -> Bool { take(.boolean, key, false) }
        func decode(_ type: String.Type, forKey key: Key) -> String { take(.string, key, "") }
        func decode(_ type: Double.Type, forKey key: Key) -> Double { take(.number, key, 0) }
        func decode(_ type: Float.Type, forKey key: Key) -> Float { take(.number, key, 0) }
        func decode<Number: FixedWidthInteger & Decodable>(_ type: Number.Type, forKey key: Key) -> Number {
            take(.integer, key, 0)
        }

        func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
            let (schema, value) = try recorder.record(type)
            return take(schema, key, value)
        }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) throws -> KeyedDecodingContainer<Nested> {
            throw SchemaRecorder.refusal("nested container")
        }

        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            throw SchemaRecorder.refusal("nested container")
        }

        func superDecoder() throws -> any Decoder { throw SchemaRecorder.refusal("super decoder") }
        func superDecoder(forKey key: Key) throws -> any Decoder { throw SchemaRecorder.refusal("super decoder") }
    }

    /// An array of one element.
    private struct Elements: UnkeyedDecodingContainer {
        let recorder: SchemaRecorder
        let notes: Notes
        var currentIndex = 0

        var codingPath: [any CodingKey] { [] }
        var count: Int? { 1 }
        var isAtEnd: Bool { currentIndex > 0 }

        func decodeNil() -> Bool {
            notes.isNullable = true
            return false
        }

        private mutating func take<Value>(_ schema: Schema, _ value: Value) -> Value {
            currentIndex += 1
            notes.schema = .array(of: notes.taken(schema))
            return value
        }

        mutating func decode(_ type: Bool.Type) -> Bool { take(.boolean, false) }
        mutating func decode(_ type: String.Type) -> String { take(.string, "") }
        mutating func decode(_ type: Double.Type) -> Double { take(.number, 0) }
        mutating func decode(_ type: Float.Type) -> Float { take(.number, 0) }
        mutating func decode<Number: FixedWidthInteger & Decodable>(_ type: Number.Type) -> Number {
            take(.integer, 0)
        }

        mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
            let (schema, value) = try recorder.record(type)
            return take(schema, value)
        }

        func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
            throw SchemaRecorder.refusal("nested container")
        }

        func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
            throw SchemaRecorder.refusal("nested container")
        }
        func superDecoder() throws -> any Decoder { throw SchemaRecorder.refusal("super decoder") }
    }
}
