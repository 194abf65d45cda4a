import Model

/// Cobertura's XML, which coverage.py, gcovr, coverlet and phpunit write. Its usual document type is refused like any other.
final class CoberturaDocument: XMLTestsHandler {
    private var list: CoverageList
    private var file: String?
    private var lines: [Int: Bool] = [:]
    private var branches = Coverage.Share(covered: 0, total: 0)
    private var counted: Set<Int> = []
    private var methods: Coverage.Share?
    private var method: (hits: Int, lines: Int)?
    private var sources: [String] = []
    private var text = ""
    /// The coverage by file. Classes of one file are merged.
    private var files: [String: (lines: [Int: Bool], branches: Coverage.Share, methods: Coverage.Share?)] = [:]
    private var records = 0

    init(root: SourceRoot) { list = CoverageList(root: root) }

    func begin(_ element: String, _ attributes: [String: String], depth: Int) throws(XMLText.Refusal) {
        text = ""
        switch element {
        case "coverage" where depth == 1:
            guard attributes["line-rate"] != nil || attributes["lines-valid"] != nil else {
                throw XMLText.Refusal(text: "a <coverage> that is not Cobertura's")
            }
        case "class":
            file = attributes["filename"]
            (lines, branches, counted, methods) = ([:], Coverage.Share(covered: 0, total: 0), [], nil)
        case "method": method = (0, 0)
        case "line" where file != nil:
            records += 1
            guard records <= LCOVReader.maximumRecords else {
                throw XMLText.Refusal(text: "more than \(LCOVReader.maximumRecords) lines of coverage")
            }
            guard let number = attributes["number"].flatMap({ TAPLine.number(Substring($0)) }) else { return }
            let isHit = (attributes["hits"].flatMap { Double($0) } ?? 0) > 0
            if method != nil {
                method?.lines += 1
                if isHit { method?.hits += 1 }
            }
            lines[number] = isHit || (lines[number] ?? false)
            if attributes["branch"] == "true", counted.insert(number).inserted,
                let share = Self.conditions(attributes["condition-coverage"])
            {
                branches = branches + share
            }
        default: break
        }
    }

    func consume(_ text: String) { TextLimit.append(text, to: &self.text, limit: SourceRoot.maximumPathBytes) }

    func end(_ element: String, depth: Int) {
        switch element {
        case "source": if sources.count < 100 { sources.append(text) }
        case "method":
            if let method, method.lines > 0 {
                methods =
                    (methods ?? Coverage.Share(covered: 0, total: 0))
                    + Coverage.Share(covered: method.hits > 0 ? 1 : 0, total: 1)
            }
            method = nil
        case "class":
            guard let file else { return }
            self.file = nil
            var all = files.removeValue(forKey: file) ?? ([:], Coverage.Share(covered: 0, total: 0), nil)
            all.lines.merge(lines) { $0 || $1 }
            all.branches = all.branches + branches
            if let methods { all.methods = all.methods.map { $0 + methods } ?? methods }
            files[file] = all
        default: break
        }
    }

    func content(problem: String?) -> ReportContent {
        for (path, file) in files {
            list.add(
                path: placed(path),
                lines: Coverage.Share(covered: file.lines.values.count { $0 }, total: file.lines.count),
                functions: file.methods, branches: file.branches.total == 0 ? nil : file.branches)
        }
        return list.content(unreadable: problem)
    }

    /// Returns a path within a source directory. File names are relative to one of the source directories; the first that lies in the repository is
    /// used.
    private func placed(_ path: String) -> String {
        guard !path.hasPrefix("/") else { return path }
        for source in sources {
            let directory = source.trimmingPrefix(while: \.isWhitespace).trimmingSuffix(while: \.isWhitespace)
            guard directory.hasPrefix("/") else { continue }
            let joined = directory + "/" + path
            if list.root.relative(joined) != nil { return joined }
        }
        return path
    }

    /// Returns the share in a text such as `50% (1/2)`; `nil` for other text.
    private static func conditions(_ text: String?) -> Coverage.Share? {
        guard let text, text.utf8.count < 60, let open = text.range(ofFirst: "("), text.hasSuffix(")") else {
            return nil
        }
        let parts = text[open.upperBound...].dropLast().split(separator: "/")
        guard parts.count == 2, let covered = TAPLine.number(parts[0]), let total = TAPLine.number(parts[1]) else {
            return nil
        }
        return Coverage.Share(covered: covered, total: total)
    }
}
