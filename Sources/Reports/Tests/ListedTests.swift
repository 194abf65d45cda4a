/// The tests in the output of `swift test list`: `KitTests.ParserTests/testIt`, `KitTests.Outer/Inner/works()`, `KitTests.free()`.
struct ListedTests: Sendable {
    /// The suites with their modules, keyed by class and method, in the order listed.
    private var byClass: [String: [String]] = [:]
    /// The suites that contain a test, keyed by the test's name.
    private var byName: [String: [String]] = [:]
    /// The suite and name of each test.
    private var known: Set<String> = []

    init(_ lines: [String]) {
        for line in lines {
            guard let (suite, name) = Self.split(line) else { continue }
            add(suite: suite, name: name)
        }
    }

    /// Adds a test unless it is already there.
    mutating func add(suite: String, name: String) {
        guard known.insert(suite + "\u{0}" + name).inserted else { return }
        byName[name, default: []].append(suite)
        let parts = suite.split(separator: ".", maxSplits: 1)
        if parts.count == 2 { byClass[parts[1] + "\u{0}" + name, default: []].append(suite) }
    }

    /// Returns the suites of a class and method that are printed without a module.
    func suites(ofClass name: String, method: String) -> [String] { byClass[name + "\u{0}" + method] ?? [] }

    /// Returns the suite of a test of which only the function is printed; `nil` if there are none or several.
    func suite(ofFunction name: String) -> String? {
        guard let suites = byName[name], suites.count == 1 else { return nil }
        return suites.first
    }

    /// Returns the suite and name of a listed test; `nil` for other text. The suite of a function outside of any suite is its module.
    static func split(_ line: String) -> (suite: String, name: String)? {
        var line = line.trimmingSuffix(while: \.isWhitespace)
        guard !line.isEmpty, line.utf8.count <= 2 * TextLimit.nameBytes else { return nil }
        // Slashes in a raw identifier are within backticks. Overloads are listed with their place: `KitTests.p(_:)/File.swift:4:2`.
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
