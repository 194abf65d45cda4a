/// The JSON body of a request. Unknown keys are rejected, so that a misspelled key is not ignored.
protocol RequestBody: Decodable {
    associatedtype CodingKeys: CodingKey, CaseIterable
}

extension RequestBody {
    /// Returns a message about a key that the body must not have; `nil` if there is none.
    static func complaint(about keys: some Sequence<String>) -> String? {
        let known = CodingKeys.allCases.map(\.stringValue)
        guard let other = keys.sorted().first(where: { !known.contains($0) }) else { return nil }
        let list = known.map { "`\($0)`" }.joined(separator: ", ")
        return "The body has no key `\(other.prefix(64))` here; it takes \(list)."
    }
}

/// A value that is ignored.
struct AnyValue: Decodable {
    init(from decoder: any Decoder) {}
}
