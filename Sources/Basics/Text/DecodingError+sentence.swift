extension DecodingError {
    /// The error as a sentence for users: the place and the problem, without names of types.
    package var sentence: String {
        func place(_ context: Context) -> String {
            context.codingPath.isEmpty
                ? "at its top" : "at `\(context.codingPath.map(\.stringValue).joined(separator: "."))`"
        }
        return switch self {
        case .keyNotFound(let key, _): "`\(key.stringValue)` is missing"
        case .typeMismatch(_, let context): "a value of another type is expected \(place(context))"
        case .valueNotFound(_, let context): "null is not expected \(place(context))"
        case .dataCorrupted(let context):
            context.codingPath.isEmpty ? "it is not JSON" : "a value is wrong \(place(context))"
        @unknown default: "it is not JSON"
        }
    }
}
