/// Header fields in their order. Names are compared without case (RFC 9110, section 5.1).
package struct TransferHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// A header field.
    package struct Field: Sendable, Hashable {
        package var name: String
        package var value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    package var fields: [Field]

    package init(_ fields: [Field] = []) { self.fields = fields }

    package init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// The first value of a name; `nil` if there is none. Setting a value replaces every field of the name; setting
    /// `nil` removes them.
    package subscript(_ name: String) -> String? {
        get { fields.first { $0.name.lowercased() == name.lowercased() }?.value }
        set {
            fields.removeAll { $0.name.lowercased() == name.lowercased() }
            if let newValue { fields.append(Field(name: name, value: newValue)) }
        }
    }

    /// Appends a field, even if there are fields with the same name.
    package mutating func append(_ name: String, _ value: String) { fields.append(Field(name: name, value: value)) }
}
