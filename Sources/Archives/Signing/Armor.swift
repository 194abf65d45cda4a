import FoundationEssentials

/// Base64 between a first and a last line, as OpenSSH writes keys and signatures.
enum Armor {
    /// The number of characters in a line, as in files of `ssh-keygen`.
    private static let width = 70

    static func encode(_ bytes: [UInt8], label: String) -> String {
        let base64 = Array(Data(bytes).base64EncodedString().utf8)
        let lines = stride(from: 0, to: base64.count, by: width).map { start in
            String(decoding: base64[start..<min(start + width, base64.count)], as: UTF8.self)
        }
        return (["-----BEGIN \(label)-----"] + lines + ["-----END \(label)-----"]).joined(separator: "\n") + "\n"
    }

    /// Decodes an armored text.
    /// - Returns: `nil` if the text does not have this form from the first to the last line.
    static func decode(_ text: String, label: String) -> [UInt8]? {
        var lines = text.split(whereSeparator: \.isNewline).map(String.init)
        guard lines.count >= 3, lines.removeFirst() == "-----BEGIN \(label)-----",
            lines.removeLast() == "-----END \(label)-----"
        else { return nil }
        return Data(base64Encoded: lines.joined()).map(Array.init)
    }
}
