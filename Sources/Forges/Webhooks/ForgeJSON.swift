/// A JSON value of a webhook's body. It contains only the members that this module asks for; the others are checked and left out.
enum ForgeJSON: Sendable, Equatable {
    case null, bool(Bool), string(String)
    /// A text of more than `ForgeJSONReader.maximumStringBytes` bytes. No name that is used here is that long.
    case longString
    /// A number; `nil` if it has a fraction, an exponent, or more than 18 characters. No number that is used here has any of these.
    case number(Int64?)
    case array([ForgeJSON])
    case object([String: ForgeJSON])

    /// Returns a member. `null` if there is no member of this name, or if this is no object.
    subscript(_ name: String) -> ForgeJSON {
        if case .object(let members) = self { members[name] ?? .null } else { .null }
    }

    var text: String? { if case .string(let text) = self { text } else { nil } }
    var elements: [ForgeJSON]? { if case .array(let elements) = self { elements } else { nil } }
    var integer: Int64? { if case .number(let number) = self { number } else { nil } }
    var isObject: Bool { if case .object = self { true } else { false } }
    var isTrue: Bool { self == .bool(true) }
}
