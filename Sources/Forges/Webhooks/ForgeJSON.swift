import Encodings

/// A JSON value of a webhook's body.
enum ForgeJSON {
    case value(JSON)
    case string(String)

    /// A missing value.
    static var null: ForgeJSON { .value(.nothing) }

    /// Returns a member. `null` if there is no member of this name, or if this is no object. If a key comes twice, the last one counts, as in most
    /// readers.
    subscript(_ name: String) -> ForgeJSON {
        if case .value(let value) = self { .value(value[name]) } else { .null }
    }

    /// The text; `nil` also for one of more than `ForgeJSONReader.maximumStringBytes` bytes. No name that is used here is that long.
    var text: String? {
        switch self {
        case .value(let value): value.string(limit: ForgeJSONReader.maximumStringBytes)
        case .string(let text): text
        }
    }

    private var value: JSON { if case .value(let value) = self { value } else { .nothing } }

    var elements: [ForgeJSON]? { value.elements?.map(ForgeJSON.value) }
    /// The number; `nil` if it has a fraction or an exponent, or does not fit. No number that is used here does.
    var integer: Int64? { value.number.flatMap { Int64($0) } }
    var isObject: Bool { value.isObject }
    var isTrue: Bool { value.bool == true }
    /// Whether it is missing or `null`.
    var isNull: Bool { if case .value(let value) = self { value.isNothing } else { false } }
}

/// A reader of webhooks' bodies, with their limits.
enum ForgeJSONReader {
    /// The most levels of arrays and objects; GitHub's deepest body has 9.
    static let maximumDepth = 256
    /// The longest text that counts, in bytes before unescaping.
    static let maximumStringBytes = 4096
    /// The most values, each of which takes 16 bytes while the body is read. A push of the maximum number of refs has about 12 values for each ref.
    static let maximumValues = 2_000_000

    /// Reads a JSON text.
    /// - Throws: `.invalid` with the line if it is no JSON; `.tooLarge` if it has more than `maximumValues` values.
    static func read(_ bytes: [UInt8]) throws(ForgeError) -> ForgeJSON {
        do throws(JSON.Failure) {
            return .value(try JSON.parse(utf8: bytes, values: maximumValues, depth: maximumDepth))
        } catch {
            throw ForgeError(error.code == .tooManyValues ? .tooLarge : .invalid, "the body is \(error.text)")
        }
    }
}
