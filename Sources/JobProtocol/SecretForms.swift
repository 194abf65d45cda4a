/// The ways in which a secret can appear in a log although nobody printed it as it is.
enum SecretForms {
    /// The fewest bytes of a form other than the secret itself. Shorter ones would mask half of every log.
    static let shortest = 4

    /// The secret itself; its lines; its hexadecimal forms; and, for Base64 (RFC 4648 sections 4 and 5), the digits that depend on
    /// nothing but the secret at each of the three offsets at which it can stand in what was encoded. Escapes have no forms here: they
    /// are read (`Escaping`). Reversed, compressed or encrypted secrets are not found.
    static func all(of secret: String) -> Set<[UInt8]> {
        let bytes = Array(secret.utf8)
        guard !bytes.isEmpty else { return [] }
        var forms: Set<[UInt8]> = []
        for text in [bytes] + lines(of: bytes) {
            forms.formUnion([hexadecimal(text, upper: false), hexadecimal(text, upper: true)])
            for offset in 0..<3 {
                forms.insert(base64(text, offset: offset, last: "+/"))
                forms.insert(base64(text, offset: offset, last: "-_"))
            }
        }
        // The log's own line ends count for nothing while a secret is looked for (`LogRedactor`).
        forms = Set(forms.map { $0.filter { $0 != 0x0A && $0 != 0x0D } }).filter { $0.count >= shortest }
        for text in [bytes] + lines(of: bytes) { forms.insert(text.filter { $0 != 0x0A && $0 != 0x0D }) }
        forms.remove([])
        return forms
    }

    /// Nothing for a secret of one line. Lines shorter than `shortest` are left out.
    private static func lines(of bytes: [UInt8]) -> [[UInt8]] {
        let lines = bytes.split { $0 == 0x0A || $0 == 0x0D }
        return lines.count < 2 ? [] : lines.filter { $0.count >= shortest }.map(Array.init)
    }

    private static func hexadecimal(_ bytes: [UInt8], upper: Bool) -> [UInt8] {
        let digits = Array((upper ? "0123456789ABCDEF" : "0123456789abcdef").utf8)
        return bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }

    /// The Base64 digits of `bytes` when `offset` unknown bytes stand before them (modulo 3), without those digits that
    /// also depend on a neighbor.
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
