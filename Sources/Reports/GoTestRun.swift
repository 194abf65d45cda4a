import Model

/// What `go test` says of its packages and tests, whether as JSON or for people.
struct GoTestRun: Sendable {
    private struct Package: Sendable {
        /// What tests that run have printed, by their names.
        var open: [String: String] = [:]
        /// How tests ended of which only their own output tells.
        var told: [String: TestResult.Outcome] = [:]
        /// The names in the order in which they started; those that ended are among them.
        var started: [String] = []
        var tests: [TestResult] = []
        var hasFailure = false
        var output = ""
        var isEnded = false
        /// Whether its last run failed: then nothing ran again until it passed.
        var isFailed = false
        /// Whether something said that it began, so that it must end.
        var isBegun = false
        /// Whether it prints each test's start, so that a result without a start is output of a test.
        var hasStarts = false
        /// The index in `tests` of the first test of this run of the package.
        var first = 0
        /// The test that runs alone now; another one starts when it has ended or waits for its turn.
        var alone: String?
    }

    private let root: SourceRoot
    private var packages: [String: Package] = [:]
    /// Tests of which only the package's line after them will tell whose they are.
    private var unnamed = Package()
    private var order: [String] = []
    private var results = 0
    /// Whether a package was tested, and not only passed over since it has no tests.
    private var isTested = false
    private(set) var problems: [String] = []

    init(root: SourceRoot) { self.root = root }

    /// Whether anything of a test run was there.
    var isEmpty: Bool { order.isEmpty && unnamed.started.isEmpty && unnamed.tests.isEmpty }

    /// An event of the package was there.
    mutating func begin(_ package: String) { edit(package) { $0.isBegun = true } }

    /// Whether a test runs, of which the console tells.
    func isRunning(_ name: String) -> Bool { unnamed.open[name] != nil }

    /// - Returns: Whether the test can have started: not while another runs that it is no subtest of.
    @discardableResult
    mutating func start(_ name: String, package: String?) -> Bool {
        var isStarted = true
        let isPrinted = package == nil
        edit(package) { package in
            if isPrinted, let alone = package.alone, package.open[alone] != nil, !name.hasPrefix(alone + "/") {
                isStarted = false
                return
            }
            package.hasStarts = true
            if !name.contains("/") { package.alone = name }
            guard package.started.count < ReportContent.maximumItems else { return }
            let name = TextLimit.cut(name, toBytes: TextLimit.nameBytes)
            package.open[name] = ""
            package.started.append(name)
        }
        return isStarted
    }

    /// A test waits until those that run alone have ended.
    mutating func pause(_ name: String) {
        edit(nil) { if $0.alone == name { $0.alone = nil } }
    }

    /// Whether a printed result can be a test's own: the test is running, or starts are not printed. Benchmarks have no start.
    func mayEnd(_ name: String) -> Bool {
        unnamed.open[name] != nil || !unnamed.hasStarts || name.hasPrefix("Benchmark")
    }

    /// - Parameter test: `nil` for output of the package itself.
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

    /// The result of a test within its own output, whose last line had no end: the event of it may not come.
    mutating func tell(_ name: String, _ outcome: TestResult.Outcome, package: String) {
        edit(package) { package in
            if package.open[name] != nil { package.told[name] = outcome }
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
            package.hasFailure = package.hasFailure || outcome.isFailure
            package.tests.append(result)
        }
    }

    /// A package's own end. A package that failed without a failing test is itself a failed test: it could not be built, or ended by a panic, a
    /// data race or `os.Exit`.
    /// - Parameter isEmpty: Whether it has no tests.
    mutating func endPackage(_ name: String, isFailed: Bool, reason: String = "", isEmpty: Bool = false) {
        if !isEmpty { isTested = true }
        let suite = TextLimit.cut(name, toBytes: TextLimit.nameBytes)
        edit(name) { package in
            if !isFailed { Self.believe(&package) }
            let crash = Self.panic(in: package.output)
            for name in package.started where isFailed || package.told[name] != nil {
                guard let output = package.open.removeValue(forKey: name) else { continue }
                if let outcome = package.told[name] {
                    package.hasFailure = package.hasFailure || outcome.isFailure
                    package.tests.append(
                        TestResult(
                            suite: suite, name: name, outcome: outcome, message: outcome == .passed ? nil : output))
                    continue
                }
                let text = [output, crash ?? ""].joined(separator: "\n")
                    .trimmingPrefix(while: \.isWhitespace).trimmingSuffix(while: \.isWhitespace)
                package.hasFailure = true
                package.tests.append(
                    TestResult(
                        suite: suite, name: name, outcome: .crashed,
                        message: TextLimit.cut(String(text), toBytes: Finding.maximumMessageBytes)))
            }
            package.open = [:]
            package.told = [:]
            package.started = []
            package.isEnded = true
            defer { package.first = package.tests.count }
            package.isFailed = isFailed
            // A panic is printed after the result of the test that it ended.
            if isFailed, let crash, let last = package.tests.indices.last, package.tests[last].outcome == .failed,
                package.tests[last].message == nil
            {
                package.tests[last].message = crash
            }
            if isFailed, !package.hasFailure {
                package.hasFailure = true
                let text = (reason.isEmpty ? "" : reason + "\n") + package.output
                package.tests.append(
                    TestResult(
                        suite: suite, name: "(package)", outcome: .failed,
                        message: text.isEmpty
                            ? "the package failed" : String(text.trimmingSuffix(while: \.isWhitespace))))
            }
        }
    }

    /// The package passed, so no test of it failed: a test printed the apparent failure.
    private static func believe(_ package: inout Package) {
        let started = Set(package.started)
        for index in package.tests.indices[package.first...] where package.tests[index].outcome.isFailure {
            guard started.contains(package.tests[index].name) else { continue }
            (package.tests[index].outcome, package.tests[index].message) = (.passed, nil)
        }
        package.tests[package.first...].removeAll { $0.outcome.isFailure }
        package.told = package.told.mapValues { $0.isFailure ? .passed : $0 }
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
            existing.hasFailure = existing.hasFailure || moved.hasFailure
            TextLimit.append(moved.output, to: &existing.output)
        }
    }

    mutating func content() -> ReportContent {
        if !unnamed.tests.isEmpty || !unnamed.open.isEmpty { name("") }
        for name in order where packages[name]?.isEnded == false {
            let isBusy = packages[name].map { $0.isBegun || !$0.open.isEmpty || !$0.tests.isEmpty } ?? false
            guard isBusy else { continue }
            problems.append(
                "the output of go test ends before "
                    + (name.isEmpty ? "its package does" : "the package \(TextLimit.cut(name, toBytes: 200)) does"))
            endPackage(name, isFailed: true, reason: "it has no end")
        }
        var (tests, places): ([TestResult], [Int?]) = ([], [])
        for (number, name) in order.enumerated() {
            guard let package = packages[name] else { continue }
            // `-count 2` runs a test twice, which is one test only where the package passed in the end.
            let runs = package.isFailed ? package.tests : Self.sortedByName(package.tests)
            tests += runs
            places += runs.map { _ in package.isFailed ? nil : number }
        }
        var content = ReportContent(tests: JUnitRetries.joined(tests, within: places), problems: problems)
        content.hasNoTests = !order.isEmpty && !isTested && tests.isEmpty
        return content
    }

    /// The runs of a test next to each other, in the order of their first ones.
    private static func sortedByName(_ tests: [TestResult]) -> [TestResult] {
        var first: [String: Int] = [:]
        for (index, test) in tests.enumerated() where first[test.name] == nil { first[test.name] = index }
        guard first.count < tests.count else { return tests }
        return tests.enumerated().sorted {
            (first[$0.element.name] ?? 0, $0.offset) < (first[$1.element.name] ?? 0, $1.offset)
        }.map(\.element)
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
