/// A page of a listing.
package struct List<Item: Codable & Hashable & Sendable>: Codable, Hashable, Sendable {
    /// The items, in the order that the route states.
    package var items: [Item]
    /// The value of `before` or `after` for the next page; `nil` on the last page.
    package var next: String?

    /// Creates a value from all its properties.
    package init(items: [Item], next: String?) {
        self.items = items
        self.next = next
    }
}

/// A moment, in the form that every answer has it: RFC 3339 in UTC with milliseconds, such as `2026-03-01T12:00:00.250Z`.
package struct Time: Codable, Hashable, Sendable, CustomStringConvertible {
    /// The moment in RFC 3339.
    package let text: String

    /// Creates a moment from its text.
    package init(_ text: String) { self.text = text }

    /// Reads a JSON string. Text that is not RFC 3339 is kept as it is, because commands only print it.
    package init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }

    /// Writes a JSON string.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    /// The text, for messages.
    package var description: String { text }
}

/// A JSON object whose names are data, such as the names of configurations. Unlike a dictionary it keeps the order of its members.
package struct ByName<Value: Codable & Hashable & Sendable>: Codable, Hashable, Sendable {
    /// The members in the order of the answer.
    package let members: [Member]

    /// A member of the object.
    package struct Member: Hashable, Sendable {
        /// The name, which is unique in the object.
        package let name: String
        /// The value.
        package let value: Value
    }

    /// Creates an object from names and values. Names are unique.
    package init(_ members: [(name: String, value: Value)]) {
        self.members = members.map { Member(name: $0.name, value: $0.value) }
    }

    /// Returns the value of a name; `nil` if the object has no such name.
    package subscript(name: String) -> Value? { members.first { $0.name == name }?.value }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Reads a JSON object. The order of its members is not defined then.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        members = try container.allKeys.map { key in
            Member(name: key.stringValue, value: try container.decode(Value.self, forKey: key))
        }
    }

    /// Writes a JSON object with the members in their order.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        for member in members { try container.encode(member.value, forKey: Key(stringValue: member.name)) }
    }
}
