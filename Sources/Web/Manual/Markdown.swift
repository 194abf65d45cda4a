/// A page of Markdown as HTML, with its sections for the search.
///
/// It reads the subset that the pages in `docs` use: headings, paragraphs, lists, tables, quotations, fenced code, and the inline forms of
/// `MarkdownText`. Everything else is text. All text is escaped, so a page contains no HTML of its own.
struct Markdown {
    /// The text between two headings.
    struct Section: Equatable {
        /// 1 to 6; 0 for the text before the first heading.
        let level: Int
        let heading: String
        /// The `id` of the heading; empty for the text before the first heading.
        let anchor: String
        /// The section's text without markup, one block per line.
        var text: String
    }

    /// The escaped HTML.
    private(set) var html = ""
    private(set) var sections = [Section(level: 0, heading: "", anchor: "", text: "")]
    /// Returns the address of a link's destination; `nil` if the link becomes plain text.
    private let link: (String) -> String?
    private var anchors: [String: Int] = [:]

    /// The deepest level of lists and quotations within each other. What is deeper is text of its paragraph.
    private static let maximumDepth = 6

    init(_ source: String, link: @escaping (String) -> String?) {
        self.link = link
        let lines = Self.visible(source).split(separator: "\n", omittingEmptySubsequences: false)
        append(lines[...], depth: 0)
    }

    /// The text of the first heading of level 1; `nil` without one.
    var title: String? { sections.first { $0.level == 1 }?.heading }

    /// Replaces control characters, and shows characters that reorder text by their names.
    private static func visible(_ source: String) -> String {
        var text = String.UnicodeScalarView()
        for scalar in source.unicodeScalars {
            switch scalar {
            case "\n", "\t": text.append(scalar)
            case "\r": continue
            case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value): text.append("\u{FFFD}")
            case _ where HTMLText.isBidirectional(scalar):
                text.append(contentsOf: "[U+\(String(scalar.value, radix: 16, uppercase: true))]".unicodeScalars)
            default: text.append(scalar)
            }
        }
        return String(text)
    }

    // MARK: Blocks

    private mutating func append(_ lines: ArraySlice<Substring>, depth: Int) {
        var rest = lines
        while let line = rest.first {
            let block = Block(line, followedBy: rest.dropFirst().first)
            switch block {
            case .blank: rest.removeFirst()
            case .comment:
                let end = rest.firstIndex { $0.contains("-->") } ?? rest.endIndex - 1
                rest = rest[(end + 1)...]
            case .heading(let level, let text):
                appendHeading(level, text)
                rest.removeFirst()
            case .code(let marker): appendCode(&rest, marker)
            case .table: appendTable(&rest)
            case .quotation where depth < Self.maximumDepth: appendQuotation(&rest, depth)
            case .item(let item) where depth < Self.maximumDepth: appendList(&rest, item, depth)
            case .quotation, .item, .text: appendParagraph(&rest, isBare: false)
            }
        }
    }

    private mutating func appendHeading(_ level: Int, _ text: Substring) {
        let inline = MarkdownText(text, link: link)
        let anchor = anchor(for: inline.plain)
        html += "<h\(level) id=\"\(HTMLText.escape(anchor))\">\(inline.html)</h\(level)>\n"
        sections.append(Section(level: level, heading: inline.plain, anchor: anchor, text: ""))
    }

    /// Returns a heading's anchor as GitHub makes it, so that links between pages work there and here.
    private mutating func anchor(for heading: String) -> String {
        var anchor = ""
        for character in heading.lowercased() {
            if character == " " { anchor.append("-") }
            if character.isLetter || character.isNumber || character == "-" || character == "_" {
                anchor.append(character)
            }
        }
        let count = anchors[anchor, default: 0]
        anchors[anchor] = count + 1
        return count == 0 ? anchor : "\(anchor)-\(count)"
    }

    private mutating func appendCode(_ rest: inout ArraySlice<Substring>, _ marker: Substring) {
        let indent = rest.first?.prefix { $0 == " " }.count ?? 0
        rest.removeFirst()
        var code = ""
        while let line = rest.popFirst() {
            let content = line.drop { $0 == " " }
            if content.hasPrefix(marker),
                content.dropFirst(marker.count).allSatisfy({ $0 == marker.first || $0 == " " })
            {
                break
            }
            let blanks = line.prefix(indent).prefix { $0 == " " }.count
            code += line.dropFirst(blanks) + "\n"
        }
        html += "<pre><code>\(HTMLText.escape(code))</code></pre>\n"
        note(code)
    }

    private mutating func appendTable(_ rest: inout ArraySlice<Substring>) {
        let header = Self.cells(rest.removeFirst())
        rest.removeFirst()
        html += "<table class=\"list\">\n"
        if header.contains(where: { !$0.isEmpty }) {
            html += "<thead><tr>\(header.map { "<th scope=\"col\">\(text($0))</th>" }.joined())</tr></thead>\n"
        }
        html += "<tbody>\n"
        while let line = rest.first, line.drop(while: { $0 == " " }).hasPrefix("|") {
            rest.removeFirst()
            let cells = Self.cells(line).prefix(header.count)
            let missing = repeatElement("<td></td>", count: header.count - cells.count).joined()
            html += "<tr>\(cells.map { "<td>\(text($0))</td>" }.joined())\(missing)</tr>\n"
        }
        html += "</tbody>\n</table>\n"
    }

    /// Returns the cells of a table's row. `\|` is part of a cell.
    static func cells(_ line: Substring) -> [Substring] {
        var row = line.drop { $0 == " " }.dropFirst()
        while row.last == " " { row.removeLast() }
        if row.last == "|", row.dropLast().last != "\\" { row.removeLast() }
        var (cells, start, isEscaped): ([Substring], Substring.Index, Bool) = ([], row.startIndex, false)
        for index in row.indices {
            if row[index] == "|", !isEscaped {
                cells.append(row[start..<index])
                start = row.index(after: index)
            }
            isEscaped = row[index] == "\\" && !isEscaped
        }
        cells.append(row[start...])
        return cells.map { cell in
            let content = cell.drop { $0 == " " }
            let end = content.lastIndex { $0 != " " }.map { content.index(after: $0) } ?? content.startIndex
            return Substring(content[..<end].replacing("\\|", with: "|"))
        }
    }

    private mutating func appendQuotation(_ rest: inout ArraySlice<Substring>, _ depth: Int) {
        var lines: [Substring] = []
        while let line = rest.first?.drop(while: { $0 == " " }), line.hasPrefix(">") {
            rest.removeFirst()
            lines.append(line.dropFirst().hasPrefix(" ") ? line.dropFirst(2) : line.dropFirst())
        }
        html += "<blockquote>\n"
        append(lines[...], depth: depth + 1)
        html += "</blockquote>\n"
    }

    private mutating func appendList(_ rest: inout ArraySlice<Substring>, _ first: Block.Item, _ depth: Int) {
        let tag = first.isNumbered ? "ol" : "ul"
        html += "<\(tag)>\n"
        while let line = rest.first, case .item(let item) = Block(line, followedBy: nil),
            item.isNumbered == first.isNumbered, item.indent < first.width
        {
            html += "<li>"
            appendItem(Self.itemLines(&rest, item), depth)
            html += "</li>\n"
        }
        html += "</\(tag)>\n"
    }

    private mutating func appendItem(_ lines: [Substring], _ depth: Int) {
        var rest = lines[...]
        // The first paragraph of an item stands without an element of its own.
        if let line = rest.first, case .text = Block(line, followedBy: rest.dropFirst().first) {
            appendParagraph(&rest, isBare: true)
        }
        append(rest, depth: depth + 1)
    }

    /// Takes the lines of a list's item, without its marker and indentation.
    private static func itemLines(_ rest: inout ArraySlice<Substring>, _ item: Block.Item) -> [Substring] {
        var lines = [rest.removeFirst().dropFirst(item.width)]
        while let line = rest.first {
            let indent = line.prefix { $0 == " " }.count
            if indent == line.count {
                // Blank lines belong to the item if more of the item follows.
                guard let next = rest.firstIndex(where: { !$0.allSatisfy { $0 == " " } }),
                    rest[next].prefix(while: { $0 == " " }).count >= item.width
                else { break }
                lines.append("")
                rest = rest[next...]
                continue
            } else if indent >= item.width {
                lines.append(line.dropFirst(item.width))
            } else if case .text = Block(line, followedBy: nil), lines.last?.isEmpty == false {
                lines.append(line.dropFirst(indent))
            } else {
                break
            }
            rest.removeFirst()
        }
        if rest.first.map({ $0.allSatisfy { $0 == " " } }) == true,
            let next = rest.firstIndex(where: { !$0.allSatisfy { $0 == " " } }),
            case .item(let following) = Block(rest[next], followedBy: nil), following.indent < item.width
        {
            rest = rest[next...]
        }
        return lines
    }

    private mutating func appendParagraph(_ rest: inout ArraySlice<Substring>, isBare: Bool) {
        var lines: [Substring] = [rest.removeFirst()]
        while let line = rest.first, case .text = Block(line, followedBy: rest.dropFirst().first) {
            lines.append(line)
            rest.removeFirst()
        }
        let content = text(Substring(lines.map { $0.drop { $0 == " " } }.joined(separator: "\n")))
        html += isBare ? content : "<p>\(content)</p>\n"
    }

    /// Returns a text's HTML, and adds the text to the section.
    private mutating func text(_ source: Substring) -> String {
        let inline = MarkdownText(source, link: link)
        note(inline.plain)
        return inline.html
    }

    private mutating func note(_ text: String) {
        sections[sections.count - 1].text += text + "\n"
    }
}

/// The kind of block that a line begins.
private enum Block {
    struct Item {
        let isNumbered: Bool
        let indent: Int
        /// The number of characters before the item's text.
        let width: Int
    }

    case blank, comment, table, quotation, text
    case heading(Int, Substring)
    /// Code, with the characters that end it.
    case code(Substring)
    case item(Item)

    init(_ line: Substring, followedBy next: Substring?) {
        let content = line.drop { $0 == " " }
        let indent = line.count - content.count
        let marks = content.prefix { $0 == "#" }.count
        let ticks = content.prefix { $0 == "`" }
        if content.isEmpty {
            self = .blank
        } else if content.hasPrefix("<!--") {
            self = .comment
        } else if (1...6).contains(marks), content.dropFirst(marks).first == " " {
            self = .heading(marks, content.dropFirst(marks + 1))
        } else if ticks.count >= 3, !content.dropFirst(ticks.count).contains("`") {
            self = .code(ticks)
        } else if content.hasPrefix("|"), let next, Self.isDelimiter(next) {
            self = .table
        } else if content.hasPrefix(">") {
            self = .quotation
        } else if let width = Self.marker(content) {
            self = .item(Item(isNumbered: content.first?.isNumber == true, indent: indent, width: indent + width))
        } else {
            self = .text
        }
    }

    /// Returns whether a line separates a table's header from its rows.
    private static func isDelimiter(_ line: Substring) -> Bool {
        let content = line.filter { $0 != " " }
        return content.hasPrefix("|-") && content.allSatisfy { "|-:".contains($0) }
            || content.hasPrefix("|:-") && content.allSatisfy { "|-:".contains($0) }
    }

    /// Returns the width of a list item's marker with its space; `nil` if the text begins with none.
    private static func marker(_ content: Substring) -> Int? {
        if content.hasPrefix("- ") || content.hasPrefix("* ") { return 2 }
        let digits = content.prefix { $0.isASCII && $0.isNumber }.count
        return (1...9).contains(digits) && content.dropFirst(digits).hasPrefix(". ") ? digits + 2 : nil
    }
}
