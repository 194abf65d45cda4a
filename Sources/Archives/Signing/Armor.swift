import FoundationEssentials

/// Base64 between a line that begins it and one that ends it, as OpenSSH writes keys and signatures.
enum Armor {
    /// Characters in a line, as `ssh-keygen` has them.
    private static let width = 70

    static func encode(_ bytes: [UInt8], label: String) -> String {
        let base64 = Array(Data(bytes).base64EncodedString().utf8)
        let lines = stride(from: 0, to: base64.count, by: width).map { start in
            String(decoding: base64[start..<min(start + width, base64.count)], as: UTF8.self)
        }
        return (["-----BEGIN \(label)-----"] + lines + ["-----END \(label)-----"]).joined(separator: "\n") + "\n"
    }

    /// Nothing when it is not this form, from its first to its last line.
    static func decode(_ text: String, label: String) -> [UInt8]? {
        var lines = text.split(whereSeparator: \.isNewline).map(String.init)
        guard lines.count >= 3, lines.removeFirst() == "-----BEGIN \(label)-----",
            lines.removeLast() == "-----END \(label)-----"
        else { return nil }
        return Data(base64Encoded: lines.joined()).map(Array.init)
    }
}
