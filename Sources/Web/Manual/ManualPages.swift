import CManual
import Encodings

/// The documentation that is built into the program: the pages of `docs`.
struct ManualPages: Sendable {
    struct Page: Sendable {
        /// The path beneath `docs` without `.md`, such as `operating/backup`.
        let path: String
        let title: String
        let source: String

        /// The folder of the page; empty for the pages beside the folders.
        var folder: String { path.split(separator: "/").dropLast().joined(separator: "/") }
    }

    /// A section that has all words of a search.
    struct Hit: Sendable, Equatable {
        let page: String
        /// The page's title, and the section's heading where it is another one.
        let title: String
        let heading: String
        let anchor: String
        /// The text around the first word.
        let excerpt: String
    }

    /// The bytes of a search that count; the rest is left out.
    static let longestQuery = 200
    /// The words of a search that count.
    static let mostWords = 8
    static let mostHits = 30
    private static let excerptLength = 180

    /// The pages in the order of their paths.
    let pages: [Page]
    private let indexes: [String: Int]
    private let sections: [Searched]

    /// The pages of this program. They are read and indexed at the first request for one.
    static let ofProgram = ManualPages(
        (0..<manual_page_count()).map { index in
            let page = manual_page(index)
            return (
                String(cString: page.path),
                String(decoding: UnsafeRawBufferPointer(start: page.text, count: page.length), as: UTF8.self)
            )
        })

    init(_ sources: [(path: String, text: String)]) {
        var (pages, sections): ([Page], [Searched]) = ([], [])
        for (path, text) in sources.sorted(by: { $0.path < $1.path }) {
            let markdown = Markdown(text) { _ in nil }
            let title = markdown.title ?? path
            pages.append(Page(path: path, title: title, source: text))
            sections += markdown.sections.compactMap { Searched($0, of: path, title: title) }
        }
        (self.pages, self.sections) = (pages, sections)
        indexes = Dictionary(pages.enumerated().map { ($1.path, $0) }, uniquingKeysWith: { first, _ in first })
    }

    subscript(path: String) -> Page? { indexes[path].map { pages[$0] } }

    /// Returns a page's content as HTML. Links to other pages lead to `/docs/…`; links to files that are no pages are plain text.
    func html(_ page: Page) -> String {
        Markdown(page.source) { address(of: $0, on: page) }.html
    }

    /// Returns the address of a link's destination; `nil` for what the service does not serve.
    func address(of destination: String, on page: Page) -> String? {
        if destination.hasPrefix("https://") || destination.hasPrefix("http://") { return destination }
        let parts = destination.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let anchor = parts.count > 1 && !parts[1].isEmpty ? "#" + parts[1] : ""
        if parts[0].isEmpty { return anchor.isEmpty ? nil : anchor }
        var folders = page.path.split(separator: "/").dropLast()
        for name in parts[0].split(separator: "/", omittingEmptySubsequences: false) {
            switch name {
            case ".": continue
            case "..":
                guard folders.popLast() != nil else { return nil }
            default: folders.append(name)
            }
        }
        let path = folders.joined(separator: "/")
        guard path.hasSuffix(".md"), self[String(path.dropLast(3))] != nil else { return nil }
        return "/docs/" + path.dropLast(3) + anchor
    }

    /// Returns the sections that have all words of a query, the best first: words in a heading or title count more than words in the text.
    func hits(for query: String) -> [Hit] {
        let text = String(decoding: query.utf8.prefix(Self.longestQuery), as: UTF8.self).lowercased()
        let words = Set(text.split { $0.isWhitespace }.prefix(Self.mostWords))
        guard !words.isEmpty else { return [] }
        let wanted = words.sorted().map { ByteSearch($0.utf8) }
        let found = sections.compactMap { section in section.rank(of: wanted).map { (section: section, rank: $0) } }
        let best = found.sorted { one, other in
            let (first, second) = (one.section, other.section)
            return (other.rank, first.page, first.section.anchor) < (one.rank, second.page, second.section.anchor)
        }
        // An excerpt takes longer than the search in a section.
        return best.prefix(Self.mostHits).map { $0.section.hit(words.sorted(), excerptLength: Self.excerptLength) }
    }

    /// A section with its text in lower case.
    private struct Searched: Sendable {
        let page: String
        let title: String
        let section: Markdown.Section
        /// The title and the heading, and the text, in lower case and UTF-8.
        private let heading: [UInt8]
        private let text: [UInt8]

        /// - Returns: `nil` for a section without text and heading.
        init?(_ section: Markdown.Section, of page: String, title: String) {
            guard !section.heading.isEmpty || !section.text.isEmpty else { return nil }
            (self.page, self.title, self.section) = (page, title, section)
            heading = Array("\(title) \(section.heading)".lowercased().utf8)
            text = Array(section.text.lowercased().utf8)
        }

        /// Returns how well the section fits; `nil` if it does not have all words.
        func rank(of words: [ByteSearch]) -> Int? {
            var rank = 0
            for word in words {
                let isHeading = heading.withUnsafeBytes { word.first(in: $0) } != nil
                let isText = text.withUnsafeBytes { word.first(in: $0) } != nil
                guard isHeading || isText else { return nil }
                rank += (isHeading ? 10 : 0) + (isText ? 1 : 0)
            }
            return rank
        }

        func hit(_ words: [Substring], excerptLength: Int) -> Hit {
            Hit(
                page: page, title: title, heading: section.level == 1 ? "" : section.heading, anchor: section.anchor,
                excerpt: excerpt(words, excerptLength))
        }

        private func excerpt(_ words: [Substring], _ length: Int) -> String {
            let text = section.text.split { $0.isWhitespace }.joined(separator: " ")
            let lower = text.lowercased()
            let found = words.compactMap { lower.firstRange(of: $0)?.lowerBound }.min() ?? lower.startIndex
            let start = max(0, lower.distance(from: lower.startIndex, to: found) - length / 3)
            let part = text.dropFirst(start).prefix(length)
            return (start > 0 ? "…" : "") + part + (text.count > start + length ? "…" : "")
        }
    }
}
