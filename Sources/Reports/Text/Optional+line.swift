import Model

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
