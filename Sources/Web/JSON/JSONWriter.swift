/// Writes `Codable` values as JSON text (RFC 8259).
///
/// The members of an object are written in the order in which the value encodes them, which is the order of its properties, so that answers match
/// their documentation. An optional property that is `nil` is written as null, so that every answer of a route has the same members. Foundation's
/// encoder can do neither.
final class JSONWriter {
    /// The text so far.
    private(set) var bytes: [UInt8] = []
    /// The objects and arrays that are open, from the outermost to the innermost.
    private var open: [Open] = []

    private struct Open {
        let isArray: Bool
        var count = 0
    }

    /// Returns the JSON text of a value.
    /// - Throws: Only what the value's own `encode(to:)` throws.
    static func bytes(of value: some Encodable) throws -> [UInt8] {
        let writer = JSONWriter()
        try value.encode(to: Encoding(writer: writer, depth: 0))
        writer.close(to: 0)
        return writer.bytes
    }

    /// Returns the JSON text of a value.
    static func text(of value: some Encodable) throws -> String {
        String(decoding: try bytes(of: value), as: UTF8.self)
    }

    /// Closes the objects and arrays that are deeper than this.
    private func close(to depth: Int) {
        while open.count > depth, let last = open.popLast() { bytes.append(UInt8(ascii: last.isArray ? "]" : "}")) }
    }

    /// Begins an object or array at this depth, or returns to the one that is open there: a value may write the members of one object by several
    /// containers.
    private func begin(at depth: Int, isArray: Bool) -> Int {
        if open.count > depth {
            close(to: depth + 1)
        } else {
            bytes.append(UInt8(ascii: isArray ? "[" : "{"))
            open.append(Open(isArray: isArray))
        }
        return depth + 1
    }

    /// Writes what comes before the next element of the object or array at this depth.
    private func separate(at depth: Int) {
        close(to: depth)
        if open[depth - 1].count > 0 { bytes.append(UInt8(ascii: ",")) }
        open[depth - 1].count += 1
    }

    private func write(key: some CodingKey, at depth: Int) {
        separate(at: depth)
        JSONText.write(key.stringValue, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
    }

    private func write(_ value: Bool) { bytes += (value ? "true" : "false").utf8 }
    private func write(_ value: String) { JSONText.write(value, to: &bytes) }
    private func write(_ value: Double) { JSONText.write(value, to: &bytes) }
    private func write(_ value: some FixedWidthInteger) { bytes += String(value).utf8 }
    private func writeNull() { bytes += "null".utf8 }

    private func write(_ value: some Encodable, at depth: Int) throws {
        let start = bytes.count
        try value.encode(to: Encoding(writer: self, depth: depth))
        if bytes.count == start { _ = begin(at: depth, isArray: false) }
        close(to: depth)
    }

    /// The encoder of one value.
    private struct Encoding: Encoder, SingleValueEncodingContainer {
        let writer: JSONWriter
        /// The number of objects and arrays around the value.
        let depth: Int

        var codingPath: [any CodingKey] { [] }
        var userInfo: [CodingUserInfoKey: Any] { [:] }

        func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
            KeyedEncodingContainer(Members(writer: writer, depth: writer.begin(at: depth, isArray: false)))
        }

        func unkeyedContainer() -> any UnkeyedEncodingContainer {
            Elements(writer: writer, depth: writer.begin(at: depth, isArray: true))
        }

        func singleValueContainer() -> any SingleValueEncodingContainer { self }

        func encodeNil() { writer.writeNull() }
        func encode(_ value: Bool) { writer.write(value) }
        func encode(_ value: String) { writer.write(value) }
        func encode(_ value: Double) { writer.write(value) }
        func encode(_ value: Float) { writer.write(Double(value)) }
        func encode<Number: FixedWidthInteger & Encodable>(_ value: Number) { writer.write(value) }
        func encode<Value: Encodable>(_ value: Value) throws { try writer.write(value, at: depth) }
    }

    /// An object.
    private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let writer: JSONWriter
        /// The number of open objects and arrays up to this one.
        let depth: Int

        var codingPath: [any CodingKey] { [] }

        func encodeNil(forKey key: Key) {
            writer.write(key: key, at: depth)
            writer.writeNull()
        }

        func encode(_ value: Bool, forKey key: Key) {
            writer.write(key: key, at: depth)
            writer.write(value)
        }

        func encode(_ value: String, forKey key: Key) {
            writer.write(key: key, at: depth)
            writer.write(value)
        }

        func encode(_ value: Double, forKey key: Key) {
            writer.write(key: key, at: depth)
            writer.write(value)
        }

        func encode(_ value: Float, forKey key: Key) { encode(Double(value), forKey: key) }

        func encode<Number: FixedWidthInteger & Encodable>(_ value: Number, forKey key: Key) {
            writer.write(key: key, at: depth)
            writer.write(value)
        }

        func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
            writer.write(key: key, at: depth)
            try writer.write(value, at: depth)
        }

        func encodeIfPresent(_ value: Bool?, forKey key: Key) {
            if let value { encode(value, forKey: key) } else { encodeNil(forKey: key) }
        }

        func encodeIfPresent(_ value: String?, forKey key: Key) {
            if let value { encode(value, forKey: key) } else { encodeNil(forKey: key) }
        }

        func encodeIfPresent(_ value: Double?, forKey key: Key) {
            if let value { encode(value, forKey: key) } else { encodeNil(forKey: key) }
        }

        // One for each type: a generic function does not take the place of the protocol's own, which leave out a member that is `nil`.
        func encodeIfPresent(_ value: Int?, forKey key: Key) { encodeNumber(value, forKey: key) }
        func encodeIfPresent(_ value: Int8?, forKey key: Key) { encodeNumber(value, forKey: key) }
        func encodeIfPresent(_ value: Int16?, forKey key: Key) { encodeNumber(value, forKey: key) }
        func encodeIfPresent(_ value: Int32?, forKey key: Key) { encodeNumber(value, forKey: key) }
        func encodeIfPresent(_ value: Int64?, forKey key: Key) { encodeNumber(value, forKey: key) }
        func encodeIfPresent(_ value: UInt?, forKey key: Key) { encodeNumber(value, forKey: key) }
        func encodeIfPresent(_ value: UInt8?, forKey key: Key) { encodeNumber(value, forKey: key) }
        func encodeIfPresent(_ value: UInt16?, forKey key: Key) { encodeNumber(value, forKey: key) }
        func encodeIfPresent(_ value: UInt32?, forKey key: Key) { encodeNumber(value, forKey: key) }
        func encodeIfPresent(_ value: UInt64?, forKey key: Key) { encodeNumber(value, forKey: key) }
        func encodeIfPresent(_ value: Float?, forKey key: Key) {
            encodeIfPresent(value.map(Double.init), forKey: key)
        }

        private func encodeNumber(_ value: (some FixedWidthInteger & Encodable)?, forKey key: Key) {
            if let value { encode(value, forKey: key) } else { encodeNil(forKey: key) }
        }

        func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
            if let value { try encode(value, forKey: key) } else { encodeNil(forKey: key) }
        }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) -> KeyedEncodingContainer<Nested> {
            nested(key).container(keyedBy: type)
        }

        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { nested(key).unkeyedContainer() }

        func superEncoder() -> any Encoder { Encoding(writer: writer, depth: depth - 1) }
        func superEncoder(forKey key: Key) -> any Encoder { nested(key) }

        private func nested(_ key: Key) -> Encoding {
            writer.write(key: key, at: depth)
            return Encoding(writer: writer, depth: depth)
        }
    }

    /// An array.
    private struct Elements: UnkeyedEncodingContainer {
        let writer: JSONWriter
        /// The number of open objects and arrays up to this one.
        let depth: Int

        var codingPath: [any CodingKey] { [] }
        var count: Int { writer.open[depth - 1].count }

        func encodeNil() {
            writer.separate(at: depth)
            writer.writeNull()
        }

        func encode(_ value: Bool) {
            writer.separate(at: depth)
            writer.write(value)
        }

        func encode(_ value: String) {
            writer.separate(at: depth)
            writer.write(value)
        }

        func encode(_ value: Double) {
            writer.separate(at: depth)
            writer.write(value)
        }

        func encode(_ value: Float) { encode(Double(value)) }

        func encode<Number: FixedWidthInteger & Encodable>(_ value: Number) {
            writer.separate(at: depth)
            writer.write(value)
        }

        func encode<Value: Encodable>(_ value: Value) throws {
            writer.separate(at: depth)
            try writer.write(value, at: depth)
        }

        func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
            nested().container(keyedBy: type)
        }

        func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyedContainer() }
        func superEncoder() -> any Encoder { nested() }

        private func nested() -> Encoding {
            writer.separate(at: depth)
            return Encoding(writer: writer, depth: depth)
        }
    }
}
