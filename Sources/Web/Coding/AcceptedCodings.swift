import HTTPTypes
import Model

/// What a client says of content codings (`Accept-Encoding`, RFC 9110, section 12.5.3).
struct AcceptedCodings: Sendable, Hashable {
    /// Whether an answer is compressed with gzip: if the client accepts it, and likes it no less than an answer as it is.
    let prefersGzip: Bool

    /// The most members of the header that are read. Browsers send five.
    static let maximumMembers = 32

    /// - Parameter header: The header's value; `nil` if it is absent, which is the same as any coding, of which none is chosen.
    init(_ header: String?) {
        var weights: [Substring: Int] = [:]
        for member in (header ?? "").split(separator: ",").prefix(Self.maximumMembers) {
            let parts = member.split(separator: ";").map(Self.trimmed)
            guard let name = parts.first, !name.isEmpty else { continue }
            guard let weight = Self.weight(parts.dropFirst()) else { continue }
            weights[Substring(name.lowercased())] = weight
        }
        let gzip = weights["gzip"] ?? weights["x-gzip"] ?? weights["*"] ?? 0
        // A client that does not name it accepts an answer as it is, but prefers what it names.
        prefersGzip = gzip > 0 && gzip >= weights["identity"] ?? 0
    }

    /// Returns the weight in thousandths; 1,000 without one, and `nil` for a weight that RFC 9110 does not have.
    private static func weight(_ parameters: ArraySlice<Substring>) -> Int? {
        guard let parameter = parameters.first(where: { $0.lowercased().hasPrefix("q=") }) else { return 1000 }
        let text = parameter.dropFirst(2)
        guard text.utf8.count <= 5, let value = Double(text), (0...1).contains(value) else { return nil }
        return Int(clamping: (value * 1000).rounded())
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text.drop { $0 == " " || $0 == "\t" }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }
}
