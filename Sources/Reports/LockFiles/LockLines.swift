/// A line-by-line reader of lock files. Their tools write them in one form. A complete reader of YAML or TOML, with aliases and nesting, would let an
/// untrusted file cause more work.
enum LockLines {
    /// Returns the lines without their ends. Bytes that are not UTF-8 are replaced.
    static func of(_ bytes: [UInt8]) -> some Sequence<String> {
        bytes.lazy.split(separator: 0x0A, omittingEmptySubsequences: false).lazy.map { line in
            String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
        }
    }

    /// Returns the text of `KEY = "TEXT"` in a line of TOML, also in an inline table; `nil` if there is none. `nil` for a text with a backslash,
    /// which no name, version or digest contains.
    static func value(of key: String, in line: some StringProtocol) -> String? {
        let wanted = Array("\(key) = \"".utf8)
        let bytes = Array(line.utf8)
        var start = 0
        while start + wanted.count <= bytes.count {
            defer { start += 1 }
            let isBegin =
                start == 0 || [UInt8(ascii: " "), UInt8(ascii: "{"), UInt8(ascii: ",")].contains(bytes[start - 1])
            guard isBegin, bytes[start...].starts(with: wanted) else { continue }
            let rest = bytes[(start + wanted.count)...]
            guard let end = rest.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
            let text = rest[..<end]
            return text.contains(UInt8(ascii: "\\")) ? nil : String(decoding: text, as: UTF8.self)
        }
        return nil
    }

    /// Returns the value in a line that begins with the key, which belongs to the table itself and not to an inline table. `nil` for other lines.
    static func own(_ key: String, of line: String) -> String? {
        line.hasPrefix("\(key) = ") ? value(of: key, in: line) : nil
    }

    /// Returns a name or key without the quotation marks around it.
    static func unquoted(_ text: some StringProtocol) -> String {
        for mark in ["\"", "'"] where text.utf8.count >= 2 && text.hasPrefix(mark) && text.hasSuffix(mark) {
            return String(text.dropFirst().dropLast())
        }
        return String(text)
    }
}
