import Model

extension GoTestRun {
    /// Ends the tests that have no end because their process ended. One process is one crash. If several tests were running, the panic names the one
    /// that crashed. If it names none, the package has crashed. The other tests did not run to their end.
    static func endOpen(_ package: inout Package, suite: String, crash: String?) {
        let open = package.started.filter { package.open[$0] != nil && !isBenchmark($0) }
        guard !open.isEmpty else { return }
        // If a test panics, Go prints its result itself.
        let hasPanicked =
            crash != nil
            && package.tests[package.first...].last.map { $0.outcome == .failed && $0.message == nil } ?? false
        let running = open.filter { !package.waiting.contains($0) }
        // If a subtest was running, its test has crashed with it.
        var parents: Set<String> = []
        for name in running {
            if let slash = name.lastIndex(of: "/") { parents.insert(String(name[..<slash])) }
        }
        let leaves = running.filter { !parents.contains($0) }
        var crashed = hasPanicked ? [] : Set(leaves)
        if crashed.count > 1 {
            let text = crash ?? leaves.compactMap { package.open[$0].flatMap(GoMessages.panic) }.first ?? ""
            crashed = GoMessages.tests(in: text, of: crashed)
            if crashed.isEmpty {
                package.hasFailure = true
                package.tests.append(
                    TestResult(
                        suite: suite, name: packageTest, outcome: .crashed,
                        message: CrashedProcess.message(text, running: leaves)))
            }
        }
        for name in crashed {
            var rest = name[...]
            while let slash = rest.lastIndex(of: "/") {
                rest = rest[..<slash]
                if package.open[String(rest)] != nil { crashed.insert(String(rest)) }
            }
        }
        for name in open {
            var result = TestResult(
                suite: suite, name: name, outcome: .skipped, message: CrashedProcess.notRun)
            if crashed.contains(name) {
                let text = [package.open[name] ?? "", crash ?? ""].joined(separator: "\n")
                    .trimmingPrefix(while: \.isWhitespace).trimmingSuffix(while: \.isWhitespace)
                result.outcome = .crashed
                result.message = TextLimit.cut(String(text), toBytes: Finding.maximumMessageBytes)
                package.hasFailure = true
            }
            package.tests.append(result)
        }
    }
}

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
