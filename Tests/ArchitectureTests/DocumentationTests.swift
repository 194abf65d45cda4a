import Basics
import TestSupport
import Testing

/// Holds the pages of docs/operating and docs/reference to their size, and to the messages that the program has.
@Suite(.proves(.testsAndPages, "Troubleshooting pages quote messages that the program has; operators' pages are short"))
struct DocumentationTests {
    private struct Page {
        let path: String
        let text: String
    }

    private func pages(in folder: String) throws -> [Page] {
        let root = try Directory(opening: Project.root)
        var pages: [Page] = []
        try root.walk(folder, limit: 10_000) { path, status in
            let name = String(decoding: path, as: UTF8.self)
            let isList = ["features", "acceptance", "messages"].contains { name.hasSuffix("/\($0).md") }
            guard status.kind == .file, name.hasSuffix(".md"), !isList else { return }
            pages.append(Page(path: name, text: String(decoding: try root.read(path, limit: 4 << 20), as: UTF8.self)))
        }
        return pages
    }

    /// The number of words. Marks alone, such as the lines of a table, are none.
    private static func words(_ text: some StringProtocol) -> Int {
        text.split { $0.isWhitespace }.count { $0.contains { $0.isLetter || $0.isNumber } }
    }

    /// The first column of a table of messages quotes the program; `…` is what differs from time to time.
    @Test func testThatEveryMessageInTroubleshootingIsOneOfTheProgram() throws {
        // given
        let root = try Directory(opening: Project.root)
        var sources = ""
        try root.walk("Sources", limit: 100_000) { path, status in
            guard status.kind == .file, String(decoding: path, as: UTF8.self).hasSuffix(".swift") else { return }
            sources += String(decoding: try root.read(path, limit: 4 << 20), as: UTF8.self)
        }
        let troubleshooting = try pages(in: "docs/operating").filter { $0.path.contains("/troubleshooting") }
        #expect(troubleshooting.count == 2)
        var count = 0
        for page in troubleshooting {
            for line in page.text.split(separator: "\n") where line.hasPrefix("| `") {
                // when
                let cell = line.dropFirst(2).prefix { $0 != "|" }
                let quoted = cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
                    .filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
                // then
                for part in quoted.flatMap({ $0.split(separator: "…") }) where part.count > 3 {
                    let words = part.split { $0 == " " || $0 == "," }.joined(separator: " ")
                    #expect(
                        sources.contains(part) || sources.contains(words),
                        "\(page.path): no message of the program has: \(part)")
                    count += 1
                }
            }
        }
        #expect(count > 50)
    }

    @Test(arguments: ["docs/operating", "docs/reference"])
    func testThatPagesAndTheirSentencesAreShort(folder: String) throws {
        let pages = try pages(in: folder)
        #expect(pages.count >= 9)
        for page in pages {
            #expect(Self.words(page.text) <= 1_200, "\(page.path) has \(Self.words(page.text)) words; split it")
            for sentence in Sentences.of(page.text) where Self.words(sentence) > 40 {
                Issue.record("\(page.path): a sentence of \(Self.words(sentence)) words: \(sentence)")
            }
        }
    }
}

/// The sentences of a page's paragraphs, items and cells. Code blocks have none.
private enum Sentences {
    static func of(_ text: String) -> [Substring] {
        var (parts, paragraph, isCode): ([Substring], String, Bool) = ([], "", false)
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") { isCode.toggle() }
            let isBlock = isCode || line.isEmpty || "#|-<`".contains(line.first ?? "#") || line.first?.isNumber == true
            if isBlock {
                parts.append(Substring(paragraph))
                paragraph = ""
                if isCode { continue }
                parts += line.hasPrefix("|") ? line.split(separator: "|") : []
            }
            if !line.hasPrefix("|"), !line.hasPrefix("```") { paragraph += line + " " }
        }
        return (parts + [Substring(paragraph)]).flatMap { sentences($0) }
    }

    /// Splits a text behind `.`, `!`, `?`, `:` and `;` with a space after them.
    private static func sentences(_ text: Substring) -> [Substring] {
        var (found, start): ([Substring], Substring.Index) = ([], text.startIndex)
        for index in text.indices where ".!?:;".contains(text[index]) {
            let next = text.index(after: index)
            guard next < text.endIndex, text[next] == " " else { continue }
            found.append(text[start..<next])
            start = next
        }
        return found + [text[start...]]
    }
}
