/// The table of docs/internals/architecture.md: which target may import which modules.
struct ImportTable {
    /// The modules by target, ours and others together.
    private(set) var rows: [String: Set<String>] = [:]

    init(_ markdown: String) {
        for line in markdown.split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                .map { $0.filter { $0 != "`" } }
            guard cells.count == 4 else { continue }
            let above = Set(rows.keys)
            let modules = (cells[2] + "," + cells[3]).split(separator: ",").map { $0.trimmed }
            let name = cells[0].trimmed
            rows[name] = []
            for module in modules where module != "–" {
                switch module {
                case "all", "all above": rows[name]?.formUnion(above)
                default: rows[name]?.insert(module)
                }
            }
        }
    }
}

extension StringProtocol {
    var trimmed: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
