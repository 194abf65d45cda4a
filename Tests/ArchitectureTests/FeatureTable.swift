/// The rows of docs/features.md: what there is, where, what proves it, and whether it works.
struct FeatureTable {
    struct Row {
        let line: Int
        let what: String
        /// Files and directories, relative to the project's root.
        let places: [String]
        /// `Suite.Context.testThat…`
        let tests: [String]
        /// Claims of Tests/Showcase/main-job: `showcase: NAME`.
        let claims: [String]
        let proof: String
        let state: String
    }

    private(set) var rows: [Row] = []
    /// Lines of a table that are no row of it.
    private(set) var broken: [Int] = []

    init(_ markdown: String) {
        for (index, line) in markdown.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
        where line.hasPrefix("| ") && !line.hasPrefix("| what |") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                .map { $0.trimmed }
            guard cells.count == 4 else {
                broken.append(index + 1)
                continue
            }
            rows.append(
                Row(
                    line: index + 1, what: cells[0], places: Self.quoted(cells[1]),
                    tests: Self.quoted(cells[2]).filter { $0.contains(".testThat") },
                    claims: cells[2].matches(of: /showcase: (\w+)/).map { String($0.1) }, proof: cells[2],
                    state: cells[3]))
        }
    }

    /// What is wrong with a row, given what is there.
    ///
    /// - Parameters:
    ///   - tests: The names of all test functions, each with the types of the files that declare one of this name.
    ///   - claims: The names of the showcase's claims.
    static func violations(
        _ row: Row, exists: (String) -> Bool, tests: [String: [Set<String>]], claims: Set<String>
    ) -> [String] {
        var found = row.places.filter { !exists($0) }.map { "\($0) is not there" }
        for test in row.tests {
            let parts = test.split(separator: ".").map(String.init)
            let isThere = (tests[parts[parts.count - 1]] ?? []).contains { $0.isSuperset(of: parts.dropLast()) }
            if !isThere { found.append("there is no test \(test)") }
        }
        found += row.claims.filter { !claims.contains($0) }.map { "the showcase has no claim \($0)" }
        if row.state == "works" || row.state.hasPrefix("works: ") {
            if row.proof == "–" && row.state == "works" { found.append("it is said to work, and nothing proves it") }
        } else if !row.state.hasPrefix("partly: ") && !row.state.hasPrefix("not yet: ") {
            found.append("the state is none: \(row.state)")
        }
        return found
    }

    private static func quoted(_ cell: String) -> [String] {
        cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }
}
