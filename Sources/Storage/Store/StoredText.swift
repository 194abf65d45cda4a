import Foundation

/// Returns the JSON text of a value for a column. Keys are sorted, so that equal values have equal texts.
func jsonText(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
}

extension String {
    /// The text, cut at a character boundary to the `Store.maximumTextBytes` that are stored.
    var kept: String { kept(Store.maximumTextBytes) }

    func kept(_ limit: Int) -> String {
        if utf8.count <= limit { return self }
        var end = utf8.index(startIndex, offsetBy: limit)
        while end > startIndex, end.samePosition(in: self) == nil { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}
