import Model

/// A reader of lcov's trace files, which gcov, llvm-cov, Istanbul and cargo-llvm-cov write.
enum LCOVReader {
    /// A file of the report. A file that several tests cover has several records.
    private struct File {
        var lines: [Int: Bool] = [:]
        var functions: [Substring: Bool] = [:]
        var branches: [Substring: Bool] = [:]

        /// Records a line. A line that at least one test covers is covered.
        mutating func add(line: Int, _ isHit: Bool) { lines[line] = isHit || (lines[line] ?? false) }
        mutating func add(function: Substring, _ isHit: Bool) {
            functions[function] = isHit || (functions[function] ?? false)
        }
        mutating func add(branch: Substring, _ isHit: Bool) { branches[branch] = isHit || (branches[branch] ?? false) }
    }

    /// The most lines, functions and branches of all files that are read.
    static let maximumRecords = 20_000_000

    /// Returns the coverage. Lines, functions and branches are counted from their records; the totals in `LF`, `LH` and similar records are not used.
    /// A record that ends early is a problem.
    static func read(_ bytes: [UInt8], root: SourceRoot) -> ReportContent {
        var files: [String: File] = [:]
        var open: (path: String, file: File)?
        var problem: String?
        var number = 0
        var records = 0
        LogLines.forEach(in: bytes) { line in
            number += 1
            guard problem == nil else { return }
            let text = line.text
            if text.hasPrefix("SF:") {
                if open != nil { problem = "line \(number): a file begins before the one before it ends" }
                let path = String(text.dropFirst(3))
                open = (path, files.removeValue(forKey: path) ?? File())
            } else if text.hasPrefix("end_of_record") {
                if let open { files[open.path] = open.file }
                open = nil
            } else if records >= maximumRecords {
                problem = "more than \(maximumRecords) records"
            } else if open != nil {
                records += 1
                if consume(text, &open) == false { problem = "line \(number): no record of lcov" }
            }
        }
        if problem == nil, let open { problem = "it ends within the file \(TextLimit.cut(open.path, toBytes: 300))" }
        var list = CoverageList(root: root)
        for (path, file) in files {
            list.add(
                path: path, lines: share(file.lines) ?? Coverage.Share(covered: 0, total: 0),
                functions: share(file.functions), branches: share(file.branches))
        }
        return list.content(unreadable: problem)
    }

    /// Reads a record such as `DA:3,0`, `FNDA:4,name` or `BRDA:3,0,0,-`.
    /// - Returns: Whether its form is valid.
    private static func consume(_ text: String, _ open: inout (path: String, file: File)?) -> Bool {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let rest = text[text.utf8.index(after: colon)...]
        switch text[..<colon] {
        case "DA":
            let parts = rest.split(separator: ",", maxSplits: 2)
            guard parts.count >= 2, let line = TAPLine.number(parts[0]), let isHit = isHit(parts[1]) else {
                return false
            }
            open?.file.add(line: line, isHit)
        case "FNDA":
            guard let comma = rest.firstIndex(of: ","), let isHit = isHit(rest[..<comma]) else { return false }
            open?.file.add(function: rest[rest.index(after: comma)...], isHit)
        case "FN":
            // `FN:1,name`, with lcov 2 `FN:1,3,name`.
            if let name = rest.split(separator: ",").last { open?.file.add(function: name, false) }
        case "BRDA":
            guard let comma = rest.lastIndex(of: ",") else { return false }
            let taken = rest[rest.index(after: comma)...]
            guard let isHit = taken == "-" ? false : isHit(taken) else { return false }
            open?.file.add(branch: rest[..<comma], isHit)
        default: return true
        }
        return true
    }

    /// Returns whether a count of any length is positive; `nil` if it is no number. Because of known errors, gcov's counts may be negative or have an
    /// exponent.
    private static func isHit(_ text: Substring) -> Bool? {
        guard text.utf8.count <= 40, let count = Double(text), !count.isNaN else { return nil }
        return count > 0
    }

    private static func share(_ hits: [some Hashable: Bool]) -> Coverage.Share? {
        hits.isEmpty ? nil : Coverage.Share(covered: hits.values.count { $0 }, total: hits.count)
    }
}
