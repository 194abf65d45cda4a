import Yams

/// A parser of YAML text into nodes with positions. It reports the line of an error.
enum YAMLParser {
    /// The most nodes of one document. A file within the size limit that exceeds this contains no settings.
    static let maximumNodes = 20_000

    /// Parses a text.
    /// - Parameter firstLine: The number of the text's first line, for a text that is part of a file.
    /// - Returns: The root; `nil` if the text is empty, contains only comments, or an error was added.
    static func parse(_ yaml: String, firstLine: Int = 1, _ diagnostics: inout Diagnostics) -> YAMLNode? {
        guard YAMLGuard.accepts(yaml, &diagnostics) else { return nil }
        do {
            // Every value is read as text. The basic resolver avoids determining each key's YAML type, which takes seven regular expressions per key.
            guard let root = try Parser(yaml: yaml, resolver: .basic, encoding: .utf8).singleRoot() else { return nil }
            var conversion = Conversion(offset: firstLine - 1, diagnostics: diagnostics)
            let node = conversion.node(root)
            diagnostics = conversion.diagnostics
            return node
        } catch let error as YamlError {
            report(error, in: yaml, offset: firstLine - 1, &diagnostics)
        } catch {
            diagnostics.error("not readable as YAML: \(error)", at: Position(line: firstLine, column: 1))
        }
        return nil
    }

    private struct Conversion {
        let offset: Int
        var diagnostics: Diagnostics
        var count = 0

        mutating func node(_ node: Node) -> YAMLNode? {
            let position = Position(line: (node.mark?.line ?? 1) + offset, column: node.mark?.column ?? 1)
            count += 1
            guard count <= maximumNodes else {
                if count == maximumNodes + 1 {
                    diagnostics.error("the file has more than \(maximumNodes) values; remove some", at: position)
                }
                return nil
            }
            switch node {
            case .scalar(let scalar):
                return YAMLNode(
                    position: position, content: .scalar(scalar.string, isPlain: scalar.style == .plain))
            case .sequence(let sequence):
                let items = sequence.compactMap { self.node($0) }
                return YAMLNode(position: position, content: .sequence(items), isFlow: sequence.style == .flow)
            case .mapping(let mapping):
                var entries: [YAMLNode.Entry] = []
                for (key, value) in mapping {
                    guard let keyNode = self.node(key), let valueNode = self.node(value) else { return nil }
                    guard case .scalar(let text, _) = keyNode.content else {
                        diagnostics.error("a key must be a text, not \(keyNode.kind)", at: keyNode.position)
                        continue
                    }
                    entries.append(.init(key: text, position: keyNode.position, value: valueNode))
                }
                return YAMLNode(position: position, content: .mapping(entries), isFlow: mapping.style == .flow)
            case .alias:
                diagnostics.error("aliases are not read; write the value out", at: position)
                return nil
            }
        }
    }

    private static func report(
        _ error: YamlError, in yaml: String, offset: Int, _ diagnostics: inout Diagnostics
    ) {
        func place(_ mark: Mark) -> Position { Position(line: mark.line + offset, column: mark.column) }
        switch error {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _):
            var text = problem
            if let context {
                let since = context.mark.line == mark.line ? "" : " that began in line \(context.mark.line + offset)"
                text = "\(context.text)\(since): \(problem)"
            }
            if character(at: mark, of: yaml) == "\t" { text = "a tab; indent with spaces" }
            // The end of the text does not show the cause. The error therefore names the beginning of the unclosed element.
            let last = yaml.utf8.count { $0 == 0x0A } + 1
            let isUnclosed = problem.contains("end of stream") || mark.line > last
            var position = place(isUnclosed ? context?.mark ?? mark : mark)
            position.line = min(position.line, last + offset)
            diagnostics.error("not YAML: \(text)", at: position)
        case .composer(_, let problem, let mark, _):
            let isSecond = problem.contains("another document")
            diagnostics.error(
                isSecond ? "a second document begins (`---`); one file holds one" : "not YAML: \(problem)",
                at: place(mark))
        case .duplicatedKeysInMapping(let duplicates, let context):
            let key = duplicates.first ?? ""
            let first = place(context.mark)
            var second =
                repeated(key, after: context.mark, in: yaml)
                ?? Position(line: context.mark.line, column: context.mark.column)
            second.line += offset
            let before = second.line == first.line ? "" : ", first in line \(first.line)"
            diagnostics.error("\(Printable.quoted(key)) is written twice\(before)", at: second)
        case .reader(let problem, let count, _, _):
            // Yams counts characters here.
            let before = yaml.prefix(count ?? 0).unicodeScalars
            let line = before.count { $0 == "\n" } + 1
            let column = before.reversed().prefix { $0 != "\n" }.count + 1
            diagnostics.error("not YAML: \(problem)", at: Position(line: line + offset, column: column))
        case .no, .memory, .writer, .emitter, .representer, .dataCouldNotBeDecoded:
            diagnostics.error("not readable as YAML: \(error)", at: Position(line: 1 + offset, column: 1))
        }
    }

    private static func character(at mark: Mark, of yaml: String) -> Unicode.Scalar? {
        let lines = yaml.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.indices.contains(mark.line - 1) else { return nil }
        return lines[mark.line - 1].dropFirst(mark.column - 1).first
    }

    /// Returns the position at which a block mapping has the key again; `nil` if it is not found. Yams reports only the first position.
    private static func repeated(_ key: String, after first: Mark, in yaml: String) -> Position? {
        let lines = yaml.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated().dropFirst(first.line) {
            let text = line.drop { $0 == " " }
            guard line.count - text.count == first.column - 1 else { continue }
            if [key, "\"\(key)\"", "'\(key)'"].contains(where: { text.hasPrefix($0 + ":") || text.hasPrefix($0 + " :") }
            ) {
                return Position(line: index + 1, column: first.column)
            }
        }
        return nil
    }
}
