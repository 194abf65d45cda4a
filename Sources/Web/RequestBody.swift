/// What the JSON of a request's body may say: its keys and no others, so that a misspelled wish is not taken for none.
protocol RequestBody: Decodable {
    associatedtype CodingKeys: CodingKey, CaseIterable
}

extension RequestBody {
    /// What to say of a key that is none of its keys; nothing where there is no such key.
    static func complaint(about keys: some Sequence<String>) -> String? {
        let known = CodingKeys.allCases.map(\.stringValue)
        guard let other = keys.sorted().first(where: { !known.contains($0) }) else { return nil }
        let list = known.map { "`\($0)`" }.joined(separator: ", ")
        return "The body has no key `\(other.prefix(64))` here; it takes \(list)."
    }
}

/// A value that is not looked at.
struct AnyValue: Decodable {
    init(from decoder: any Decoder) {}
}
