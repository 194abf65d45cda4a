/// A parser of Go's messages beside the results of tests.
enum GoMessages {
    /// Returns the tests that a panic names: under `running tests:` for a time-out, otherwise as a function in its trace.
    static func tests(in text: String, of names: Set<String>) -> Set<String> {
        if let range = text.range(ofFirst: "running tests:") {
            let listed = text[range.upperBound...].split(separator: "\n").prefix(1000).map { line in
                String(line.trimmingPrefix(while: \.isWhitespace).prefix { $0 != " " })
            }
            return names.intersection(listed)
        }
        // `kit.TestB(0xc000007a00)` and `kit.TestB.func1(0xc000007a00)` are functions of the trace. A test and its subtests are grouped by the
        // function that runs them.
        let functions = Dictionary(grouping: names) { $0.prefix { $0 != "/" } }
        for line in text.split(separator: "\n").prefix(1000) {
            guard let dot = line.range(ofFirst: ".Test") else { continue }
            let rest = line[line.index(dot.lowerBound, offsetBy: 1)...]
            if let found = functions[rest.prefix { !"(./".contains($0) }], found.count == 1 { return Set(found) }
        }
        return []
    }

    /// Returns the first place in a compiler's messages such as `./kit_test.go:5:28: undefined: x`; `nil` if there is none.
    static func place(in text: String) -> PrintedPlace? {
        for line in text.split(separator: "\n").prefix(100) {
            let text = line.hasPrefix("vet: ") ? line.dropFirst(5) : line
            guard let end = text.range(ofFirst: ": "), let place = PrintedPlace(text[..<end.lowerBound]),
                place.line != nil
            else { continue }
            return place
        }
        return nil
    }

    /// Returns a panic with its trace; `nil` if there is none.
    static func panic(in output: String) -> String? {
        output.range(ofFirst: "panic: ").map { String(output[$0.lowerBound...]) }
    }
}
