/// The text of a paragraph, heading or cell: code, links, strong and emphasized text.
///
/// An underscore is never markup, since it is common in names. A form that is not complete is text.
struct MarkdownText {
    /// The escaped HTML.
    var html: String { String(decoding: bytes, as: UTF8.self) }
    /// The text without markup.
    var plain: String { String(decoding: plainBytes, as: UTF8.self) }

    private var bytes: [UInt8] = []
    private var plainBytes: [UInt8] = []
    private let link: (String) -> String?

    /// A longer text is not searched for markup, so that the time stays small. The pages' paragraphs have less than a tenth of that.
    static let longestMarkup = 8_192
    /// Forms within each other; what is deeper is text.
    private static let maximumDepth = 4

    init(_ text: Substring, link: @escaping (String) -> String?) {
        self.link = link
        let text = Array(text.utf8)
        if text.count > Self.longestMarkup { add(text[...]) } else { append(text[...], depth: 0) }
    }

    private mutating func append(_ text: ArraySlice<UInt8>, depth: Int) {
        guard depth <= Self.maximumDepth else { return add(text) }
        var rest = text
        while let byte = rest.first {
            let form: Form? =
                switch byte {
                case UInt8(ascii: "\\"): Form.escape(rest)
                case UInt8(ascii: "`"): Form.code(rest)
                case UInt8(ascii: "*"): Form.strong(rest) ?? Form.emphasis(rest)
                case UInt8(ascii: "["): Form.link(rest)
                case UInt8(ascii: "!"): Form.picture(rest)
                case UInt8(ascii: "<"): Form.address(rest)
                default: nil
                }
            if let form {
                append(form, depth: depth)
                rest = rest[form.end...]
            } else {
                // A run of the same marks is text as a whole.
                let run = rest.prefix { $0 == byte }
                let plain = Form.begins(with: byte) ? run : rest.prefix { !Form.begins(with: $0) }
                add(plain)
                rest = rest[plain.endIndex...]
            }
        }
    }

    private mutating func append(_ form: Form, depth: Int) {
        switch form.kind {
        case .text: add(form.content)
        case .code:
            bytes += "<code>".utf8
            add(form.content)
            bytes += "</code>".utf8
        case .strong, .emphasis:
            let tag = form.kind == .strong ? "strong" : "em"
            bytes += "<\(tag)>".utf8
            append(form.content, depth: depth + 1)
            bytes += "</\(tag)>".utf8
        case .link(let destination):
            let address = link(String(decoding: destination, as: UTF8.self))
            if let address { bytes += "<a href=\"\(HTMLText.escape(address))\">".utf8 }
            append(form.content, depth: depth + 1)
            if address != nil { bytes += "</a>".utf8 }
        }
    }

    private mutating func add(_ text: ArraySlice<UInt8>) {
        HTMLText.append(text, to: &bytes)
        plainBytes += text
    }
}

/// A complete form at the beginning of a text.
private struct Form {
    enum Kind: Equatable {
        case text, code, strong, emphasis
        case link([UInt8])
    }

    let kind: Kind
    let content: ArraySlice<UInt8>
    /// The index after the form.
    let end: Int

    static func begins(with byte: UInt8) -> Bool { "\\`*[<!".utf8.contains(byte) }

    /// A backslash before an ASCII punctuation character.
    static func escape(_ text: ArraySlice<UInt8>) -> Form? {
        guard let next = text.dropFirst().first, (0x21...0x7E).contains(next) else { return nil }
        let isWord = (0x30...0x39).contains(next) || (0x41...0x5A).contains(next) || (0x61...0x7A).contains(next)
        let end = text.startIndex + 2
        return isWord ? nil : Form(kind: .text, content: text[(end - 1)..<end], end: end)
    }

    /// Text between equally long runs of backticks.
    static func code(_ text: ArraySlice<UInt8>) -> Form? {
        let count = text.prefix { $0 == UInt8(ascii: "`") }.count
        var index = text.startIndex + count
        while let start = text[index...].firstIndex(of: UInt8(ascii: "`")) {
            let run = text[start...].prefix { $0 == UInt8(ascii: "`") }
            if run.count == count {
                var content = text[(text.startIndex + count)..<start]
                // One space at each end separates backticks of the code from the marks.
                if content.count > 2, content.first == 0x20, content.last == 0x20 {
                    content = content.dropFirst().dropLast()
                }
                return Form(kind: .code, content: content, end: run.endIndex)
            }
            index = run.endIndex
        }
        return nil
    }

    static func strong(_ text: ArraySlice<UInt8>) -> Form? { between("**", text, .strong) }

    static func emphasis(_ text: ArraySlice<UInt8>) -> Form? { between("*", text, .emphasis) }

    /// Text between two equal marks, with no space beside them.
    private static func between(_ mark: String, _ text: ArraySlice<UInt8>, _ kind: Kind) -> Form? {
        let mark = Array(mark.utf8)
        let inner = text.dropFirst(mark.count)
        guard text.starts(with: mark), let first = inner.first, first > 0x20, first != mark[0] else { return nil }
        var index = inner.startIndex
        while index < inner.endIndex {
            let rest = inner[index...]
            if mark.count == 1, rest.starts(with: "**".utf8) {
                // Strong text within emphasized text is no end of it.
                index += 2
            } else if rest.starts(with: mark), index > inner.startIndex, inner[index - 1] > 0x20 {
                return Form(kind: kind, content: inner[..<index], end: index + mark.count)
            } else {
                index = skipped(rest)
            }
        }
        return nil
    }

    /// `[text](destination)`, without a title.
    static func link(_ text: ArraySlice<UInt8>) -> Form? {
        var index = text.startIndex + 1
        while index < text.endIndex, text[index] != UInt8(ascii: "]") {
            if text[index] == UInt8(ascii: "[") { return nil }
            index = skipped(text[index...])
        }
        let rest = text[min(index, text.endIndex)...].dropFirst()
        guard rest.first == UInt8(ascii: "("), let end = rest.firstIndex(of: UInt8(ascii: ")")) else { return nil }
        let destination = rest[(rest.startIndex + 1)..<end]
        guard !destination.isEmpty, destination.allSatisfy({ $0 > 0x20 }) else { return nil }
        return Form(
            kind: .link(Array(destination)), content: text[(text.startIndex + 1)..<index], end: end + 1)
    }

    /// `![text](file)`: its text, since the program has no pictures.
    static func picture(_ text: ArraySlice<UInt8>) -> Form? {
        guard text.dropFirst().first == UInt8(ascii: "["), let link = link(text.dropFirst()) else { return nil }
        return Form(kind: .text, content: link.content, end: link.end)
    }

    /// `<https://…>`
    static func address(_ text: ArraySlice<UInt8>) -> Form? {
        guard text.dropFirst().starts(with: "https://".utf8) || text.dropFirst().starts(with: "http://".utf8),
            let end = text.firstIndex(of: UInt8(ascii: ">"))
        else { return nil }
        let address = text[(text.startIndex + 1)..<end]
        guard address.allSatisfy({ $0 > 0x20 && $0 != UInt8(ascii: "<") }) else { return nil }
        return Form(kind: .link(Array(address)), content: address, end: end + 1)
    }

    /// Returns the index after what begins a text: a code span, an escaped character, or one byte. Marks inside of these are no marks.
    private static func skipped(_ text: ArraySlice<UInt8>) -> Int {
        switch text.first {
        case UInt8(ascii: "\\"): min(text.startIndex + 2, text.endIndex)
        case UInt8(ascii: "`"):
            code(text)?.end ?? text.startIndex + text.prefix { $0 == UInt8(ascii: "`") }.count
        default: text.startIndex + 1
        }
    }
}
