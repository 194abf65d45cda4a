/// Converts a job's output to HTML, as a terminal would show it: the last state of rewritten lines, colors and attributes as classes, and links to
/// http(s) addresses. All other control sequences are dropped or shown, and none has an effect.
enum TerminalText {
    /// A line on a page.
    struct Line: Equatable {
        /// The number of the log's line; `nil` for a line that only a move of the cursor made.
        var number: Int?
        var html: String
    }

    /// Converts lines to HTML.
    /// - Parameters:
    ///   - bytes: Whole lines; an incomplete last line is shown as it is.
    ///   - firstLine: The number of the first line.
    ///   - lead: How many lines before the first one are at the beginning of `bytes`. They are read for what they begin, such as a color, and only
    ///     those that later lines have rewritten are returned.
    static func lines(of bytes: ArraySlice<UInt8>, firstLine: Int = 1, lead: Int = 0) -> [Line] {
        let screen = TerminalScreen(bytes, firstLine: firstLine - lead)
        let shown = screen.rows.firstIndex { $0.changed >= firstLine } ?? screen.rows.count
        let classes = screen.styles.map(\.classes)
        return screen.rows[shown...].map { Line(number: $0.number, html: html($0, screen, classes)) }
    }

    /// Converts a single line, as a search finds it, without colors and links.
    static func plain(_ text: String) -> String {
        var bytes: [UInt8] = []
        for scalar in text.unicodeScalars { append(scalar, to: &bytes) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func html(_ row: TerminalScreen.Row, _ screen: TerminalScreen, _ classes: [String]) -> String {
        var cells = row.cells[...]
        while let last = cells.last, last.scalar == " ", classes[Int(last.style)].isEmpty { cells.removeLast() }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(cells.count + 16)
        var index = 0
        for link in links(in: cells, screen) {
            append(cells[index..<link.range.lowerBound], classes, to: &bytes)
            let address = HTMLText.escape(link.address)
            // The title shows where a link leads, whatever its text says.
            bytes += "<a href=\"\(address)\" title=\"\(address)\" rel=\"noopener nofollow noreferrer\">".utf8
            append(cells[link.range], classes, to: &bytes)
            bytes += "</a>".utf8
            index = link.range.upperBound
        }
        append(cells[index...], classes, to: &bytes)
        if row.skipped > 0 { bytes += " <i>… \(row.skipped) more characters in this line: see the raw log</i>".utf8 }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the links of a row, in their order: those that the job made, and addresses outside of these.
    private static func links(
        in cells: ArraySlice<TerminalScreen.Cell>, _ screen: TerminalScreen
    ) -> [(range: Range<Int>, address: String)] {
        var found: [(range: Range<Int>, address: String)] = []
        var index = cells.startIndex
        while index < cells.endIndex {
            let link = screen.styles[Int(cells[index].style)].link
            var end = index + 1
            while end < cells.endIndex, screen.styles[Int(cells[end].style)].link == link { end += 1 }
            if let link {
                found.append((index..<end, screen.links[link]))
            } else if cells[index..<end].contains(where: { $0.scalar == ":" }) {
                let scalars = cells[index..<end].map(\.scalar)
                for range in WebAddress.ranges(in: scalars) {
                    var address = String.UnicodeScalarView()
                    address.append(contentsOf: scalars[range])
                    found.append((index + range.lowerBound..<index + range.upperBound, String(address)))
                }
            }
            index = end
        }
        return found
    }

    private static func append(
        _ cells: ArraySlice<TerminalScreen.Cell>, _ classes: [String], to bytes: inout [UInt8]
    ) {
        var (open, style) = ("", Int32(-1))
        for cell in cells {
            if cell.style != style {
                style = cell.style
                let wanted = classes[Int(style)]
                if wanted != open {
                    if !open.isEmpty { bytes += "</span>".utf8 }
                    if !wanted.isEmpty { bytes += "<span class=\"\(wanted)\">".utf8 }
                    open = wanted
                }
            }
            append(cell.scalar, to: &bytes)
        }
        if !open.isEmpty { bytes += "</span>".utf8 }
    }

    private static func append(_ scalar: Unicode.Scalar, to bytes: inout [UInt8]) {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", " ", "\t": bytes.append(UInt8(truncatingIfNeeded: scalar.value))
        case _ where scalar.value < 32:
            // Control characters are shown as their pictures from U+2400 on.
            bytes += String(Unicode.Scalar(0x2400 + scalar.value) ?? "\u{FFFD}").utf8
        case _ where (0x7F...0x9F).contains(scalar.value): bytes += "\u{FFFD}".utf8
        case _ where HTMLText.isBidirectional(scalar):
            bytes += "[U+\(String(scalar.value, radix: 16, uppercase: true))]".utf8
        case _ where scalar.isASCII: HTMLText.append(CollectionOfOne(UInt8(scalar.value)), to: &bytes)
        default: bytes += UTF8.encode(scalar).map(Array.init) ?? []
        }
    }
}
