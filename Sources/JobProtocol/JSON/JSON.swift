import Encodings

/// A JSON value (RFC 8259), with the few features that the job directory needs.
///
/// `Encodings.JSON` reads the text. Foundation is not used, because the supervisor is linked statically and starts in about 2 ms; Foundation alone
/// would add 30 MB.
package enum JSON: Sendable, Equatable {
    case null
    case bool(Bool)
    /// A number without fraction and exponent that fits an Int64.
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSON])
    /// An object. Keys are written sorted, so that equal values have equal bytes. A duplicate key is refused.
    case object([String: JSON])

    /// The largest depth of nested arrays and objects.
    package static let depthLimit = 64
    /// The most values and keys, each of which takes 16 bytes while a text is read.
    private static let valueLimit = 4_000_000

    /// Parses one JSON text strictly: UTF-8, without comments and trailing commas, and with only white space after the value.
    /// - Parameter limit: The size limit in bytes.
    /// - Throws: `.overLimit`, or `.malformed` with the problem in its message.
    package init(_ bytes: some Collection<UInt8>, limit: Int) throws(JobProtocolError) {
        guard bytes.count <= limit else {
            throw JobProtocolError(.overLimit, "read JSON", "\(bytes.count) bytes, at most \(limit) are accepted")
        }
        guard !bytes.starts(with: [0xEF, 0xBB, 0xBF]) else { throw Self.malformed("it begins with a byte order mark") }
        let read: Encodings.JSON
        do throws(Encodings.JSON.Failure) {
            read = try Encodings.JSON.parse(utf8: Array(bytes), values: Self.valueLimit, depth: Self.depthLimit)
        } catch {
            throw JobProtocolError(error.code == .malformed ? .malformed : .overLimit, "read JSON", error.text)
        }
        try self.init(read)
    }

    private init(_ value: Encodings.JSON) throws(JobProtocolError) {
        switch value.content {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .number(let text):
            if let integer = Int64(text) {
                self = .integer(integer)
            } else if let number = Double(text), number.isFinite {
                self = .number(number)
            } else {
                throw Self.malformed("the number \(text.prefix(32)) is out of range")
            }
        case .string(let text):
            guard let text else { throw Self.malformed("a string is not Unicode") }
            self = .string(text)
        case .array(let values):
            var elements: [JSON] = []
            for value in values { elements.append(try JSON(value)) }
            self = .array(elements)
        case .object(let values):
            var members: [String: JSON] = [:]
            for (key, value) in values {
                guard let key else { throw Self.malformed("a key is not Unicode") }
                guard members.updateValue(try JSON(value), forKey: key) == nil else {
                    throw Self.malformed("the key \(key.prefix(64)) comes twice")
                }
            }
            self = .object(members)
        }
    }

    private static func malformed(_ what: String) -> JobProtocolError {
        JobProtocolError(.malformed, "read JSON", what)
    }

    /// The member of an object; `nil` for a missing key, and if the value is not an object.
    package subscript(_ key: String) -> JSON? {
        if case .object(let members) = self { members[key] } else { nil }
    }

    package var text: String? { if case .string(let value) = self { value } else { nil } }
    package var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    package var boolean: Bool? { if case .bool(let value) = self { value } else { nil } }
    package var elements: [JSON]? { if case .array(let value) = self { value } else { nil } }
    package var members: [String: JSON]? { if case .object(let value) = self { value } else { nil } }
}
