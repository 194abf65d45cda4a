/// A decoder of a file's bytes.
enum UTF8Text {
    /// Returns the text. If the bytes are too many or not UTF-8, it adds an error with the line number and returns `nil`.
    static func decode(_ bytes: [UInt8], _ diagnostics: inout Diagnostics) -> String? {
        guard bytes.count <= YAMLGuard.maximumSize else {
            diagnostics.error(
                "the file has \(bytes.count) bytes; at most \(YAMLGuard.maximumSize) are read", at: .start)
            return nil
        }
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        // This finds the first invalid line. Lines can be checked separately, since LF is never part of another character.
        for (index, line) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated()
        where String(validating: line, as: UTF8.self) == nil {
            diagnostics.error("the line is not UTF-8; save the file as UTF-8", at: Position(line: index + 1, column: 1))
            break
        }
        return nil
    }
}
