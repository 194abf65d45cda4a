import Model

/// What `go test` says of its packages and tests, whether as JSON or for people.
struct GoTestRun: Sendable {
    private struct Package: Sendable {
        /// What tests that run have printed, by their names.
        var open: [String: String] = [:]
        /// The names in the order in which they started; those that ended are among them.
        var started: [String] = []
        var tests: [TestResult] = []
        var output = ""
        var isEnded = false
    }

    private let root: SourceRoot
    private var packages: [String: Package] = [:]
    /// Tests of which only the package's line after them will tell whose they are.
    private var unnamed = Package()
    private var order: [String] = []
    private var results = 0
    private(set) var problems: [String] = []

    init(root: SourceRoot) { self.root = root }

    /// Whether anything of a test run was there.
    var isEmpty: Bool { order.isEmpty && unnamed.started.isEmpty && unnamed.tests.isEmpty }

    mutating func start(_ name: String, package: String?) {
        edit(package) { package in
            guard package.started.count < ReportContent.maximumItems else { return }
            let name = TextLimit.cut(name, toBytes: TextLimit.nameBytes)
            package.open[name] = ""
            package.started.append(name)
        }
    }

    /// - Parameter test: Nothing for what the package itself prints.
    mutating func output(_ text: String, test: String?, package: String?) {
        edit(package) { package in
            if let test {
                guard let index = package.open.index(forKey: test) else { return }
                TextLimit.append(text, to: &package.open.values[index])
            } else {
                TextLimit.append(text, to: &package.output)
            }
        }
    }

    /// Adds to the text of a test that has ended: without `-v` its output follows its result.
    mutating func outputAfter(_ text: String, package: String?) {
        edit(package) { package in
            guard let last = package.tests.indices.last, package.tests[last].outcome != .passed else { return }
            package.tests[last].message.append(line: text)
        }
    }

    mutating func end(_ name: String, _ outcome: TestResult.Outcome, seconds: Double?, package: String?) {
        guard results < ReportContent.maximumItems else {
            if problems.isEmpty { problems.append("more than \(ReportContent.maximumItems) tests") }
            return
        }
        results += 1
        let suite = TextLimit.cut(package ?? "", toBytes: TextLimit.nameBytes)
        let name = TextLimit.cut(name, toBytes: TextLimit.nameBytes)
        edit(package) { package in
            var result = TestResult(suite: suite, name: name, outcome: outcome)
            if let text = package.open.removeValue(forKey: name)?.trimmingSuffix(while: \.isWhitespace)
                .trimmingPrefix(while: \.isWhitespace)
            {
                if outcome != .passed, !text.isEmpty { result.message = String(text) }
            }
            if let seconds, seconds >= 0, seconds < 1e9 { result.duration = .seconds(seconds) }
            package.tests.append(result)
        }
    }

    /// A package's own end. One that failed without a failing test is a failed test itself: it could not be built, or ended
    /// by a panic, a data race or `os.Exit`.
    mutating func endPackage(_ name: String, isFailed: Bool, reason: String = "") {
        let suite = TextLimit.cut(name, toBytes: TextLimit.nameBytes)
        edit(name) { package in
            let crash = Self.panic(in: package.output)
            for name in package.started where isFailed {
                guard let output = package.open.removeValue(forKey: name) else { continue }
                let text = [output, crash ?? ""].joined(separator: "\n")
                    .trimmingPrefix(while: \.isWhitespace).trimmingSuffix(while: \.isWhitespace)
                package.tests.append(
                    TestResult(
                        suite: suite, name: name, outcome: .crashed,
                        message: TextLimit.cut(String(text), toBytes: Finding.maximumMessageBytes)))
            }
            package.open = [:]
            package.started = []
            package.isEnded = true
            // A panic is printed after the result of the test that it ended.
            if isFailed, let crash, let last = package.tests.indices.last, package.tests[last].outcome == .failed,
                package.tests[last].message == nil
            {
                package.tests[last].message = crash
            }
            if isFailed, !package.tests.contains(where: \.outcome.isFailure) {
                let text = (reason.isEmpty ? "" : reason + "\n") + package.output
                package.tests.append(
                    TestResult(
                        suite: suite, name: "(package)", outcome: .failed,
                        message: text.isEmpty
                            ? "the package failed" : String(text.trimmingSuffix(while: \.isWhitespace))))
            }
        }
    }

    /// Gives what was gathered without a package's name to the package whose line has come.
    mutating func name(_ new: String) {
        let suite = TextLimit.cut(new, toBytes: TextLimit.nameBytes)
        var moved = unnamed
        unnamed = Package()
        for index in moved.tests.indices { moved.tests[index].suite = suite }
        edit(new) { existing in
            existing.open.merge(moved.open) { $1 }
            existing.started += moved.started
            existing.tests += moved.tests
            TextLimit.append(moved.output, to: &existing.output)
        }
    }

    mutating func content() -> ReportContent {
        if !unnamed.tests.isEmpty || !unnamed.open.isEmpty { name("") }
        for name in order where packages[name]?.isEnded == false {
            let isBusy = packages[name].map { !$0.open.isEmpty || !$0.tests.isEmpty } ?? false
            guard isBusy else { continue }
            problems.append(
                "the output of go test ends before "
                    + (name.isEmpty ? "its package does" : "the package \(TextLimit.cut(name, toBytes: 200)) does"))
            endPackage(name, isFailed: true, reason: "it has no end")
        }
        return ReportContent(
            tests: JUnitRetries.joined(order.flatMap { packages[$0]?.tests ?? [] }), problems: problems)
    }

    private mutating func edit(_ name: String?, _ change: (inout Package) -> Void) {
        guard let name else { return change(&unnamed) }
        if packages[name] == nil {
            guard order.count < 100_000 else { return }
            order.append(name)
        }
        change(&packages[name, default: Package()])
    }

    private static func panic(in output: String) -> String? {
        output.range(ofFirst: "panic: ").map { String(output[$0.lowerBound...]) }
    }
}
