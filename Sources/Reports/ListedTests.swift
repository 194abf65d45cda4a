/// The names that `swift test list` prints: `KitTests.ParserTests/testIt`, `KitTests.Outer/Inner/works()`, `KitTests.free()`.
struct ListedTests: Sendable {
    /// By class and method: the suites with their module, in the order listed.
    private var byClass: [String: [String]] = [:]
    /// By the last part: the suites that have it.
    private var byName: [String: [String]] = [:]
    /// Suite and name of each.
    private var known: Set<String> = []

    init(_ lines: [String]) {
        for line in lines {
            guard let (suite, name) = Self.split(line) else { continue }
            add(suite: suite, name: name)
        }
    }

    /// Adds a test unless it is there.
    mutating func add(suite: String, name: String) {
        guard known.insert(suite + "\u{0}" + name).inserted else { return }
        byName[name, default: []].append(suite)
        let parts = suite.split(separator: ".", maxSplits: 1)
        if parts.count == 2 { byClass[parts[1] + "\u{0}" + name, default: []].append(suite) }
    }

    /// The suites of a class and method that are printed without a module.
    func suites(ofClass name: String, method: String) -> [String] { byClass[name + "\u{0}" + method] ?? [] }

    /// The suite of a test of which only the function is printed; `nil` if there are several.
    func suite(ofFunction name: String) -> String? {
        guard let suites = byName[name], suites.count == 1 else { return nil }
        return suites.first
    }

    /// Suite and name of a listed test. A function outside of any suite has its module for a suite.
    static func split(_ line: String) -> (suite: String, name: String)? {
        var line = line.trimmingSuffix(while: \.isWhitespace)
        guard !line.isEmpty, line.utf8.count <= 2 * TextLimit.nameBytes else { return nil }
        // A slash in a raw identifier is within backticks.
        // Overloads are listed with their place: `KitTests.p(_:)/File.swift:4:2`.
        if let slash = line.lastIndex(of: "/"), PrintedPlace(line[line.index(after: slash)...])?.column != nil {
            line = line[..<slash]
        }
        var last: Substring.Index?
        var isRaw = false
        for index in line.indices {
            if line[index] == "`" { isRaw.toggle() }
            if line[index] == "/", !isRaw { last = index }
        }
        if let last { return (String(line[..<last]), String(line[line.index(after: last)...])) }
        guard let dot = line.firstIndex(of: ".") else { return nil }
        return (String(line[..<dot]), String(line[line.index(after: dot)...]))
    }
}
