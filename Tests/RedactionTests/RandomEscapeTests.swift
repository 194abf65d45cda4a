import TestSupport
import Testing

@testable import Redaction

/// Random choices of escaped characters, for secrets whose characters can nearly all be escaped.
@Suite struct RandomEscapeTests {
    private static let characters: [Character] = Array("ab%2F+\"\\/&;#34u0 né😀<~\t'\n")

    private func escaped(_ secret: String, by escaping: Escaping, _ numbers: inout Numbers) -> String {
        secret.unicodeScalars.map { scalar in
            let isPlain = scalar.isASCII && Escaping.isAlphanumeric(UInt8(scalar.value)) && numbers.upTo(4) > 1
            switch escaping {
            case .percent, .form:
                if escaping == .form, scalar == " " { return "+" }
                let mustNot = isPlain || scalar.isASCII && !"%+ \n".unicodeScalars.contains(scalar)
                if isPlain || mustNot && numbers.upTo(3) == 1 { return String(scalar) }
                return String(scalar).utf8.map { "%" + digits(UInt32($0), count: 2, &numbers) }.joined()
            case .backslash, .character: return backslashed(scalar, isPlain: isPlain, by: escaping, &numbers)
            case .xml:
                let names: [Unicode.Scalar: String] = [
                    "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&apos;",
                ]
                if let name = names[scalar], scalar == "&" || numbers.upTo(2) == 1 { return name }
                if isPlain || numbers.upTo(2) == 1 { return String(scalar) }
                return numbers.upTo(2) == 1 ? "&#\(scalar.value);" : "&#x\(String(scalar.value, radix: 16));"
            case .shell: return scalar == "'" ? #"'\''"# : String(scalar)
            case .doubledQuote: return scalar == "'" ? "''" : String(scalar)
            case .doubledDoubleQuote: return scalar == "\"" ? "\"\"" : String(scalar)
            case .doubledSign: return scalar == "%" ? "%%" : String(scalar)
            case .backtick: return scalar == "'" || scalar == "\"" ? "`\(scalar)" : String(scalar)
            }
        }.joined()
    }

    private func backslashed(
        _ scalar: Unicode.Scalar, isPlain: Bool, by escaping: Escaping, _ numbers: inout Numbers
    ) -> String {
        let isOther = !scalar.isASCII || scalar == "\n" || scalar == "\t"
        let short = isOther ? ["\n": "\\n", "\t": "\\t"][scalar] : "\\\(scalar)"
        if isPlain || scalar != "\\" && numbers.upTo(2) == 1 { return String(scalar) }
        if let short, !Escaping.isAlphanumeric(UInt8(scalar.value)), numbers.upTo(2) == 1 { return short }
        switch numbers.upTo(6) {
        case 1: return "\\u{" + digits(scalar.value, count: 2, &numbers) + "}"
        case 2: return "\\U" + digits(scalar.value, count: 8, &numbers)
        case 3 where escaping == .character && scalar.value < 256:
            return "\\x" + digits(scalar.value, count: 2, &numbers)
        case 3 where escaping == .backslash:
            return String(scalar).utf8.map { "\\x" + digits(UInt32($0), count: 2, &numbers) }.joined()
        case 4:
            return String(scalar).utf8.map { byte in
                let octal = String(byte, radix: 8)
                return "\\" + String(repeating: "0", count: 3 - octal.count) + octal
            }.joined()
        default: return String(scalar).utf16.map { "\\u" + digits(UInt32($0), count: 4, &numbers) }.joined()
        }
    }

    private func digits(_ value: UInt32, count: Int, _ numbers: inout Numbers) -> String {
        let digits = String(value, radix: 16, uppercase: numbers.upTo(2) == 1)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }

    private func redact(_ text: [UInt8], _ redactor: LogRedactor, _ numbers: inout Numbers) -> [UInt8] {
        var redactor = redactor
        var (output, rest) = ([UInt8](), text[...])
        while !rest.isEmpty {
            let count = numbers.upTo(12)
            output += redactor.redact(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        return output + redactor.finish()
    }

    @Test(
        .proves(.jobs, "Secrets are masked as programs escape them for URLs, forms, JSON and XML"),
        .proves(.jobs, "Secrets are masked as shells, languages, databases and tools quote them"), arguments: 0..<20)
    func testThatAllOfASecretIsMaskedWhateverOfItIsEscaped(seed: Int) {
        var numbers = Numbers(state: UInt64(seed) &* 7919)
        for _ in 0..<15 {
            // given: secrets that have much in common, one of which is printed
            let secrets = (0..<numbers.upTo(3)).map { _ in
                String((0..<numbers.upTo(12) + 3).map { _ in Self.characters[numbers.upTo(24) - 1] })
            }
            let secret = secrets[numbers.upTo(UInt64(secrets.count)) - 1]
            guard secret.contains(where: { $0 != "\n" }) else { continue }
            let redactor = LogRedactor(secrets: secrets).forBinary
            for escaping in Escaping.allCases {
                // when
                let text = escaped(secret, by: escaping, &numbers)
                let shown = redact(Array(".\(text).".utf8), redactor, &numbers)
                // then: a line end at either end belongs to no secret
                let expected = shown.dropFirst().dropLast().filter { $0 != UInt8(ascii: "*") }
                #expect(
                    Self.isLineEnds(expected), "\(secrets.debugDescription) as \(text.debugDescription): \(shown)")
                #expect(shown.count == text.utf8.count + 2)
            }
        }
    }

    /// Whether the bytes are line ends, as they are or escaped, and the shell's quote that opens again.
    private static func isLineEnds(_ bytes: [UInt8]) -> Bool {
        var text = String(decoding: bytes, as: UTF8.self).lowercased()
        for end in ["\n", "\\n", "\\u000a", "\\u{0a}", "\\u0000000a", "\\x0a", "\\012", "%0a", "&#10;", "&#xa;", "'"] {
            text = text.replacing(end, with: "")
        }
        return text.isEmpty
    }
}
