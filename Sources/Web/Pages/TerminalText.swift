/// Converts a job's output to HTML. The eight colors and bold of SGR are kept. All other control sequences of a terminal are shown or dropped, and
/// none has an effect.
struct TerminalText {
    /// The longest line that is shown completely, in bytes.
    static let maximumLineBytes = 4096
    /// The longest escape sequence, in bytes. If it does not end by then, it is shown as text.
    static let maximumSequenceBytes = 256

    private(set) var lines: [String] = []
    private var line: [UInt8] = []
    private var shown = 0
    private var skipped = 0
    private var color: Int?
    private var isBold = false
    private var isSpanOpen = false

    /// Converts lines to HTML.
    /// - Parameter bytes: Whole lines; an incomplete last line is shown as it is.
    static func lines(of bytes: [UInt8]) -> [String] {
        var text = TerminalText()
        text.read(bytes[...])
        return text.lines
    }

    private mutating func read(_ bytes: ArraySlice<UInt8>) {
        for piece in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            var rest = piece
            if rest.last == UInt8(ascii: "\r") { rest.removeLast() }
            readLine(rest)
            endLine()
        }
        // The text after the last newline is a line only if it is not empty.
        if bytes.isEmpty || bytes.last == UInt8(ascii: "\n") { lines.removeLast() }
    }

    private mutating func readLine(_ piece: ArraySlice<UInt8>) {
        var run = piece.startIndex
        var index = piece.startIndex
        while index < piece.endIndex {
            guard piece[index] == 0x1B else {
                index += 1
                continue
            }
            show(piece[run..<index])
            index = escape(in: piece, at: index)
            run = index
        }
        show(piece[run...])
    }

    /// Reads an escape sequence.
    /// - Returns: The index at which text continues.
    private mutating func escape(in piece: ArraySlice<UInt8>, at start: Int) -> Int {
        let limit = min(piece.endIndex, start + Self.maximumSequenceBytes)
        var index = start + 1
        guard index < limit else { return index }
        switch piece[index] {
        case UInt8(ascii: "["):
            // ECMA-48, 5.4: parameters 0x30–0x3F, intermediates 0x20–0x2F, one final 0x40–0x7E.
            index += 1
            let parameters = index
            while index < limit, (0x20...0x3F).contains(piece[index]) { index += 1 }
            guard index < limit, (0x40...0x7E).contains(piece[index]) else { return index }
            if piece[index] == UInt8(ascii: "m") { select(piece[parameters..<index]) }
            return index + 1
        case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "X"), UInt8(ascii: "^"), UInt8(ascii: "_"):
            // OSC, DCS, SOS, PM and APC: strings up to BEL or ESC \.
            index += 1
            while index < limit {
                if piece[index] == 0x07 { return index + 1 }
                if piece[index] == 0x1B {
                    return index + 1 < limit && piece[index + 1] == UInt8(ascii: "\\") ? index + 2 : index
                }
                index += 1
            }
            return start + 2
        default: return index + 1
        }
    }

    /// Applies "select graphic rendition": 0, 1, 22, 30–37, 39 and 90–97. Other codes have no effect.
    private mutating func select(_ parameters: ArraySlice<UInt8>) {
        let codes = parameters.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
            .prefix(16).map { $0.isEmpty ? 0 : Int(String(decoding: $0, as: UTF8.self)) ?? -1 }
        var iterator = codes.makeIterator()
        while let code = iterator.next() {
            switch code {
            case 0: (color, isBold) = (nil, false)
            case 1: isBold = true
            case 22: isBold = false
            case 30...37, 90...97: color = code % 10
            case 39: color = nil
            case 38, 48:
                // 38;5;n and 38;2;r;g;b: the numbers that follow are not codes.
                let count = iterator.next() == 2 ? 3 : 1
                for _ in 0..<count { _ = iterator.next() }
            default: break
            }
        }
        closeSpan()
    }

    private mutating func show(_ run: ArraySlice<UInt8>) {
        guard !run.isEmpty else { return }
        let room = Self.maximumLineBytes - shown
        skipped += max(0, run.count - room)
        guard room > 0 else { return }
        let text = String(decoding: run.prefix(room), as: UTF8.self)
        shown += min(room, run.count)
        openSpan()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\t": line.append(9)
            case _ where scalar.value < 32:
                // Control characters are shown as their pictures from U+2400 on.
                line += String(Unicode.Scalar(0x2400 + scalar.value) ?? "\u{FFFD}").utf8
            case _ where (0x7F...0x9F).contains(scalar.value): line += "\u{FFFD}".utf8
            case _ where HTMLText.isBidirectional(scalar):
                line += "[U+\(String(scalar.value, radix: 16, uppercase: true))]".utf8
            default: HTMLText.append(String(scalar).utf8, to: &line)
            }
        }
    }

    private mutating func openSpan() {
        guard !isSpanOpen, color != nil || isBold else { return }
        let classes = (color.map { ["t\($0)"] } ?? []) + (isBold ? ["tb"] : [])
        line += "<span class=\"\(classes.joined(separator: " "))\">".utf8
        isSpanOpen = true
    }

    private mutating func closeSpan() {
        if isSpanOpen { line += "</span>".utf8 }
        isSpanOpen = false
    }

    private mutating func endLine() {
        closeSpan()
        if skipped > 0 { line += " <i>… \(skipped) more bytes in this line: see the raw log</i>".utf8 }
        lines.append(String(decoding: line, as: UTF8.self))
        line = []
        (shown, skipped) = (0, 0)
    }
}
