/// A JSON value (RFC 8259), with the few features that the job directory needs.
///
/// Foundation is not used, because the supervisor is linked statically and starts in about 2 ms; Foundation alone would add 30 MB.
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

    /// Parses one JSON text strictly: UTF-8, without comments and trailing commas, and with only white space after the value.
    /// - Parameter limit: The size limit in bytes.
    /// - Throws: `.overLimit`, or `.malformed` with the offset in its message.
    package init(_ bytes: some Collection<UInt8>, limit: Int) throws(JobProtocolError) {
        var reader = JSONReader(bytes: Array(bytes), limit: limit)
        self = try reader.read()
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
