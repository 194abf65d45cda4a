import Encodings

/// The forms in which a secret can appear in a log, even if it was not printed literally.
enum SecretForms {
    /// The smallest size in bytes of a form other than the secret itself. Shorter ones would mask half of every log.
    static let shortest = 4

    /// Returns the forms of a secret: the secret itself, its lines, its hexadecimal forms, and Base64 (RFC 4648, sections 4 and 5). For Base64 there
    /// is a form for each of the three offsets at which the secret can be in the encoded text. It has only the digits that depend on the secret
    /// alone.
    ///
    /// Escapes have no forms, because they are decoded (`Escaping`). Reversed, compressed or encrypted secrets are not found.
    static func all(of secret: String) -> Set<[UInt8]> {
        let bytes = Array(secret.utf8)
        guard !bytes.isEmpty else { return [] }
        var forms: Set<[UInt8]> = []
        for text in [bytes] + lines(of: bytes) {
            forms.formUnion([false, true].map { Array(Hexadecimal.encode(text, isUppercase: $0).utf8) })
            for offset in 0..<3 {
                forms.insert(base64(text, offset: offset, last: "+/"))
                forms.insert(base64(text, offset: offset, last: "-_"))
            }
        }
        // Line ends in the log are ignored in the search for secrets (`LogRedactor`).
        forms = Set(forms.map { $0.filter { $0 != 0x0A && $0 != 0x0D } }).filter { $0.count >= shortest }
        for text in [bytes] + lines(of: bytes) { forms.insert(text.filter { $0 != 0x0A && $0 != 0x0D }) }
        forms.remove([])
        return forms
    }

    /// Returns the lines of a secret that are not shorter than `shortest`. The array is empty for a secret of one line.
    private static func lines(of bytes: [UInt8]) -> [[UInt8]] {
        let lines = bytes.split { $0 == 0x0A || $0 == 0x0D }
        return lines.count < 2 ? [] : lines.filter { $0.count >= shortest }.map(Array.init)
    }

    /// Returns the Base64 digits of `bytes` after `offset` unknown bytes (modulo 3), without the digits that also depend on a neighbor.
    private static func base64(_ bytes: [UInt8], offset: Int, last: String) -> [UInt8] {
        let alphabet = Array(("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + last).utf8)
        let padded = [UInt8](repeating: 0, count: offset) + bytes
        var digits: [UInt8] = []
        for bit in stride(from: 0, to: padded.count * 8, by: 6) where bit >= offset * 8 && bit + 6 <= padded.count * 8 {
            let first = Int(padded[bit / 8]) << 8
            let pair = first | (bit / 8 + 1 < padded.count ? Int(padded[bit / 8 + 1]) : 0)
            digits.append(alphabet[pair >> (10 - bit % 8) & 63])
        }
        return digits
    }
}
