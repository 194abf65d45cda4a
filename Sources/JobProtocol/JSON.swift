/// A JSON value (RFC 8259), in the small form that the job directory needs.
///
/// Why not Foundation's: the supervisor is linked statically and starts in about 2 ms; Foundation alone would cost 30 MB.
package enum JSON: Sendable, Equatable {
    case null
    case bool(Bool)
    /// A number without fraction and exponent that fits.
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSON])
    /// Written with its keys sorted, so that equal values are equal bytes. A key that comes twice is refused.
    case object([String: JSON])

    /// The most levels of arrays and objects within each other.
    package static let depthLimit = 64

    /// Reads one JSON text, strictly: UTF-8, no comments, no trailing commas, nothing after the value but white space.
    /// - Parameter limit: The most bytes that are accepted.
    /// - Throws: `.overLimit` or `.malformed`, whose message has the offset.
    package init(_ bytes: some Collection<UInt8>, limit: Int) throws(JobProtocolError) {
        var reader = JSONReader(bytes: Array(bytes), limit: limit)
        self = try reader.read()
    }

    /// An object's member; nothing for another key, and for what is no object.
    package subscript(_ key: String) -> JSON? {
        if case .object(let members) = self { members[key] } else { nil }
    }

    package var text: String? { if case .string(let value) = self { value } else { nil } }
    package var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    package var boolean: Bool? { if case .bool(let value) = self { value } else { nil } }
    package var elements: [JSON]? { if case .array(let value) = self { value } else { nil } }
    package var members: [String: JSON]? { if case .object(let value) = self { value } else { nil } }
}
