import Basics
import Foundation
import Testing

/// A page of the documentation for users and operators, in `docs`.
package struct DocumentationPage: Sendable, CustomTestStringConvertible {
    /// The path, relative to `docs`.
    package let name: String
    package let text: String

    package var testDescription: String { name }

    /// Reads a page.
    /// - Parameter name: The path, relative to `docs`.
    package init(_ name: String) throws {
        self.name = name
        text = String(decoding: try WholeFile.read(Project.root + "/docs/" + name, limit: 4 << 20), as: UTF8.self)
    }

    /// Reads all pages. Those for maintainers, the lists of promises and messages, and the changes are left out.
    package static func all() throws -> [DocumentationPage] {
        let files = FileManager.default.enumerator(atPath: Project.root + "/docs")
        let names = (files?.compactMap { $0 as? String } ?? []).filter { name in
            name.hasSuffix(".md") && !name.hasPrefix("internals/") && !name.hasPrefix("decisions/")
                && ![
                    "CHANGELOG.md", "reference/features.md", "reference/acceptance.md", "reference/messages.md",
                ].contains(name)
        }
        return try names.sorted().map { try DocumentationPage($0) }
    }

    /// Returns the code blocks of a language, such as `yaml`.
    package func blocks(_ language: String) -> [String] {
        text.components(separatedBy: "\n```\(language)\n").dropFirst()
            .map { $0.components(separatedBy: "\n```")[0] + "\n" }
    }

    /// Returns the names in the first column of each table whose first column has this head. A name is a word in code style, or the cell if it
    /// has none. Of `test: none` it is `test`.
    package func firstColumn(under head: String) -> [String] {
        var names: [String] = []
        var (isTable, isWanted) = (false, false)
        for line in text.components(separatedBy: "\n") {
            guard line.hasPrefix("|") else {
                isTable = false
                continue
            }
            if !isTable {
                (isTable, isWanted) = (true, line.hasPrefix("| \(head) |"))
            } else if isWanted, !line.hasPrefix("|--") {
                let cell = line.dropFirst(2).components(separatedBy: " | ")[0]
                let codes = cell.components(separatedBy: "`").enumerated().filter { !$0.offset.isMultiple(of: 2) }
                    .map { $0.element.components(separatedBy: ":")[0] }
                names += codes.isEmpty ? [cell] : codes
            }
        }
        return names
    }

    /// The anchors of the headings, as forges make them.
    package var anchors: Set<String> {
        let headings = withoutCode.components(separatedBy: "\n").filter { $0.hasPrefix("#") }
        return Set(
            headings.map { heading in
                heading.drop { $0 == "#" || $0 == " " }.lowercased().filter {
                    $0.isLetter || $0.isNumber || $0 == "-" || $0 == " " || $0 == "_"
                }.replacingOccurrences(of: " ", with: "-")
            })
    }

    /// The targets of the links to other pages and to parts of this one.
    package var links: [String] {
        withoutCode.components(separatedBy: "](").dropFirst().map { $0.components(separatedBy: ")")[0] }
            .filter { !$0.contains("://") }
    }

    /// The text without its code blocks.
    private var withoutCode: String {
        text.components(separatedBy: "```").enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
            .joined()
    }
}
