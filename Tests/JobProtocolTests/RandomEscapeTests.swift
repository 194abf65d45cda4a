import Testing

@testable import JobProtocol

/// Any writer's choice of what to escape, for secrets of which nearly all may be.
@Suite struct RandomEscapeTests {
    private static let characters: [Character] = Array("ab%2F+\"\\/&;#34u0 né😀<~\t'\n")

    private func escaped(_ secret: String, by escaping: Escaping, _ numbers: inout Numbers) -> String {
        secret.unicodeScalars.map { scalar in
            let isPlain = scalar.isASCII && !Escaping.mayEscape(UInt8(scalar.value))
            switch escaping {
            case .percent, .form:
                if escaping == .form, scalar == " " { return "+" }
                let mustNot = isPlain || scalar.isASCII && !"%+ \n".unicodeScalars.contains(scalar)
                if isPlain || mustNot && numbers.upTo(3) == 1 { return String(scalar) }
                return String(scalar).utf8.map { "%" + digits(UInt16($0), count: 2, &numbers) }.joined()
            case .json:
                let short = ["\"": "\\\"", "\\": "\\\\", "\n": "\\n", "\t": "\\t", "/": "\\/"][scalar]
                if isPlain || short == nil && numbers.upTo(2) == 1 { return String(scalar) }
                if let short, numbers.upTo(2) == 1 { return short }
                return String(scalar).utf16.map { "\\u" + digits($0, count: 4, &numbers) }.joined()
            case .xml:
                let names: [Unicode.Scalar: String] = [
                    "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&apos;",
                ]
                if let name = names[scalar], scalar == "&" || numbers.upTo(2) == 1 { return name }
                if isPlain || numbers.upTo(2) == 1 { return String(scalar) }
                return numbers.upTo(2) == 1 ? "&#\(scalar.value);" : "&#x\(String(scalar.value, radix: 16));"
            }
        }.joined()
    }

    private func digits(_ value: UInt16, count: Int, _ numbers: inout Numbers) -> String {
        let digits = String(value, radix: 16, uppercase: numbers.upTo(2) == 1)
        return String(repeating: "0", count: count - digits.count) + digits
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

    @Test(arguments: 0..<20)
    func testThatAllOfASecretIsMaskedWhateverOfItIsEscaped(seed: Int) {
        var numbers = Numbers(state: UInt64(seed) &* 7919)
        for _ in 0..<15 {
            // given: secrets that have much in common, of which one is printed
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
                // then: a line end at either end belongs to nothing
                let expected = shown.dropFirst().dropLast().filter { $0 != UInt8(ascii: "*") }
                #expect(
                    Self.isLineEnds(expected), "\(secrets.debugDescription) as \(text.debugDescription): \(shown)")
                #expect(shown.count == text.utf8.count + 2)
            }
        }
    }

    /// Nothing but line ends, as they are or escaped.
    private static func isLineEnds(_ bytes: [UInt8]) -> Bool {
        var text = String(decoding: bytes, as: UTF8.self)
        for end in ["\n", "\\n", "\\u000a", "\\u000A", "%0a", "%0A", "&#10;", "&#xa;"] {
            text = text.replacing(end, with: "")
        }
        return text.isEmpty
    }
}
