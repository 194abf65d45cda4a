/// A JSON value of a webhook's body, as far as anything here asks for it: members of other names are checked and left out.
enum ForgeJSON: Sendable, Equatable {
    case null, bool(Bool), string(String)
    /// A text over `ForgeJSONReader.maximumStringBytes`: no name here is that long.
    case longString
    /// Nothing for one with a fraction or an exponent, or beyond 18 digits: nothing that is asked for has any.
    case number(Int64?)
    case array([ForgeJSON])
    case object([String: ForgeJSON])

    /// A member; `null` for another name, and for what is no object.
    subscript(_ name: String) -> ForgeJSON {
        if case .object(let members) = self { members[name] ?? .null } else { .null }
    }

    var text: String? { if case .string(let text) = self { text } else { nil } }
    var elements: [ForgeJSON]? { if case .array(let elements) = self { elements } else { nil } }
    var integer: Int64? { if case .number(let number) = self { number } else { nil } }
    var isObject: Bool { if case .object = self { true } else { false } }
    var isTrue: Bool { self == .bool(true) }
}
