/// How a terminal shows a character: colors and attributes of "select graphic rendition" (ECMA-48, 8.3.117), and a link.
struct TerminalStyle: Hashable {
    struct Attributes: OptionSet, Hashable {
        let rawValue: UInt8
        static let bold = Attributes(rawValue: 1)
        static let faint = Attributes(rawValue: 2)
        static let italic = Attributes(rawValue: 4)
        static let underline = Attributes(rawValue: 8)
        static let reverse = Attributes(rawValue: 16)
        static let strike = Attributes(rawValue: 32)
    }

    /// The text's color in the palette of 256; `nil` for the page's own.
    var foreground: UInt8?
    /// The background's color in the palette of 256; `nil` for the page's own.
    var background: UInt8?
    var attributes: Attributes = []
    /// The index of a link's address; `nil` outside of links.
    var link: Int?

    /// The most codes of one sequence that are read. ISO 8613-6 needs up to 6 for a color.
    static let maximumCodes = 32

    /// Applies the codes of one sequence. Other codes than those of colors and of `Attributes` have no effect.
    /// - Parameter parameters: The bytes between `ESC [` and `m`, such as `1;38;5;208`. A colon separates the parts of one code (ISO 8613-6).
    mutating func apply(_ parameters: ArraySlice<UInt8>) {
        let codes = parameters.split(
            separator: UInt8(ascii: ";"), maxSplits: Self.maximumCodes, omittingEmptySubsequences: false
        ).prefix(Self.maximumCodes).map { code in
            code.split(separator: UInt8(ascii: ":"), maxSplits: 8, omittingEmptySubsequences: false).map(Self.number)
        }
        var iterator = codes.makeIterator()
        while let code = iterator.next() {
            let isColor = code[0] == 38 || code[0] == 48
            guard isColor || code.count > 1 else {
                apply(code[0])
                continue
            }
            guard isColor else {
                // 4:0 ends underlining, 4:3 is a curly line.
                if code[0] == 4 { set(.underline, code[1] != 0) }
                continue
            }
            let color = code.count > 1 ? Self.color(parts: code.dropFirst()) : Self.color(&iterator)
            guard let color else { continue }
            if code[0] == 38 { foreground = color } else { background = color }
        }
    }

    private mutating func apply(_ code: Int) {
        switch code {
        case 0: (foreground, background, attributes) = (nil, nil, [])
        case 1: set(.bold)
        case 2: set(.faint)
        case 3: set(.italic)
        case 4: set(.underline)
        case 7: set(.reverse)
        case 9: set(.strike)
        case 21: set(.bold, false)
        case 22: attributes.subtract([.bold, .faint])
        case 23: set(.italic, false)
        case 24: set(.underline, false)
        case 27: set(.reverse, false)
        case 29: set(.strike, false)
        case 30...37: foreground = UInt8(code - 30)
        case 39: foreground = nil
        case 40...47: background = UInt8(code - 40)
        case 49: background = nil
        case 90...97: foreground = UInt8(code - 82)
        case 100...107: background = UInt8(code - 92)
        default: break
        }
    }

    private mutating func set(_ attribute: Attributes, _ isOn: Bool = true) {
        if isOn { attributes.insert(attribute) } else { attributes.remove(attribute) }
    }

    /// Reads the codes after 38 or 48: `5;N`, or `2;R;G;B`.
    private static func color(_ iterator: inout some IteratorProtocol<[Int]>) -> UInt8? {
        switch iterator.next()?[0] {
        case 5: return iterator.next().flatMap { UInt8(exactly: $0[0]) }
        case 2:
            let parts = (0..<3).compactMap { _ in iterator.next()?[0] }
            return TerminalPalette.nearest(parts)
        default: return nil
        }
    }

    /// Reads the parts after 38 or 48: `5:N`, `2:R:G:B`, or `2:SPACE:R:G:B`.
    private static func color(parts: ArraySlice<Int>) -> UInt8? {
        switch parts.first {
        case 5: parts.dropFirst().first.flatMap { UInt8(exactly: $0) }
        case 2: TerminalPalette.nearest(Array(parts.dropFirst(parts.count > 4 ? 2 : 1).prefix(3)))
        default: nil
        }
    }

    /// Returns the number of a code: 0 if it is empty, -1 if it is none.
    private static func number(_ text: ArraySlice<UInt8>) -> Int {
        text.isEmpty ? 0 : Int(String(decoding: text, as: UTF8.self)) ?? -1
    }

    /// The classes of the style; empty for plain text.
    ///
    /// A background decides the text's color as well (`TerminalPalette`), since most pairs of two colors cannot be read on both color schemes.
    var classes: String {
        var names: [String] = []
        var (text, behind) = (foreground, background)
        if attributes.contains(.reverse) {
            (text, behind) = (behind, text)
            if behind == nil {
                names.append("tr")
                text = nil
            }
        }
        if let behind { names.append("b\(behind)") } else if let text { names.append("f\(text)") }
        for (attribute, name) in Self.attributeClasses where attributes.contains(attribute) { names.append(name) }
        return names.joined(separator: " ")
    }

    private static let attributeClasses: [(Attributes, String)] = [
        (.bold, "tb"), (.faint, "tf"), (.italic, "ti"), (.underline, "tu"), (.strike, "ts"),
    ]
}
