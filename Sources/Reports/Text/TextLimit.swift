import Model

/// Functions that cut texts from outside.
enum TextLimit {
    /// The most bytes of a suite's, a test's or a rule's name.
    static let nameBytes = 1024
    /// The most bytes of a report file's name in a sentence.
    static let fileNameBytes = 200

    /// Adds to a text in place, and cuts the result if it exceeds the limit. A text that has reached the limit stays unchanged.
    static func append(_ more: some StringProtocol, to text: inout String, limit: Int = Finding.maximumMessageBytes) {
        guard text.utf8.count < limit else { return }
        text.append(contentsOf: more)
        if text.utf8.count > limit { text = cut(text, toBytes: limit) }
    }

    /// Returns the text, or its beginning that fits with `…` after it. No Unicode scalar is split.
    static func cut(_ text: String, toBytes limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        let bytes = text.utf8
        var end = bytes.index(bytes.startIndex, offsetBy: max(0, limit - 3))
        // At most three steps back: a UTF-8 sequence has at most four bytes.
        while end > bytes.startIndex, end.samePosition(in: text.unicodeScalars) == nil {
            end = bytes.index(before: end)
        }
        return String(text[..<end]) + "…"
    }
}

extension String? {
    /// Adds a line to a message in place. At most `Finding.maximumMessageBytes` are kept.
    mutating func append(line: some StringProtocol) {
        guard self != nil else {
            self = TextLimit.cut(String(line), toBytes: Finding.maximumMessageBytes)
            return
        }
        if var text = take() {
            if !text.isEmpty { TextLimit.append("\n", to: &text) }
            TextLimit.append(line, to: &text)
            self = text
        }
    }
}
