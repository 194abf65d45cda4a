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
