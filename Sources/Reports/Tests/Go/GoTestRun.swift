import Model

/// The results of `go test` for packages and tests, from JSON or human-readable output.
struct GoTestRun: Sendable {
    struct Package: Sendable {
        /// The output of running tests, by name.
        var open: [String: String] = [:]
        /// The outcomes of tests that only their own output shows.
        var reported: [String: TestResult.Outcome] = [:]
        /// The names in the order in which the tests started, including tests that have ended.
        var started: [String] = []
        var tests: [TestResult] = []
        var hasFailure = false
        var output = ""
        var isEnded = false
        /// Whether its last run failed. If so, its tests are not merged with earlier runs.
        var isFailed = false
        /// Whether an event has shown its start, so that its end must follow.
        var isBegun = false
        /// Whether it prints each test's start. If so, a result without a start is a test's output.
        var hasStarts = false
        /// The index in `tests` of the first test of the package's current run. It is never greater than the number of `tests`.
        var first = 0
        /// The test in whose output the end of this run was printed; see `cut`.
        var cut: String?
        /// The test that runs exclusively now. Another one starts when it has ended or is paused.
        var alone: String?
        /// The tests that are paused (`t.Parallel()`). They have not run when the process ends.
        var waiting: Set<String> = []
        /// The tests that were paused and run again, after all that run exclusively.
        var resumed: Set<String> = []
        /// Whether the test binary has printed `PASS`, which means that it ran to its end.
        var isFinished = false
        /// Whether it has no tests.
        var isEmpty = false

        /// Whether a test that runs exclusively has not ended.
        var isBusy: Bool { alone.map { open[$0] != nil } ?? false }
    }

    private let root: SourceRoot
    private var packages: [String: Package] = [:]
    /// The tests whose package is unknown until its line comes.
    private var unnamed = Package()
    private var order: [String] = []
    private var results = 0
    /// Whether the output contains the start of each test, as with `-v` and `-json`.
    private var isVerbose = false
    /// The messages of the compiler and the loader, by package, in their order.
    private var builds: [(package: String, text: String)] = []
    /// Whether a package was tested, and not only skipped because it has no tests.
    private var isTested = false
    private(set) var problems: [String] = []

    init(root: SourceRoot) { self.root = root }

    /// Whether there is no output of a test run.
    var isEmpty: Bool { order.isEmpty && unnamed.started.isEmpty && unnamed.tests.isEmpty }

    /// Records that there was an event of the package.
    mutating func begin(_ package: String) {
        isVerbose = true
        edit(package) { $0.isBegun = true }
    }

    /// Whether a test runs exclusively now, so that other lines are its output.
    var isBusy: Bool { unnamed.isBusy }

    /// Reads a line printed while a package was built.
    /// - Parameter package: The package as it is printed: `kit [kit.test]`.
    mutating func build(_ line: String, of package: String) {
        var name = package[...]
        // A test package is built beside the package that it tests, whose name is in brackets.
        if name.hasSuffix(".test]"), let open = name.range(ofLast: " [") {
            name = name[open.upperBound...].dropLast(".test]".count)
        }
        if builds.last?.package != String(name) {
            guard builds.count < Self.maximumBuilds else { return }
            builds.append((TextLimit.cut(String(name), toBytes: TextLimit.nameBytes), ""))
        }
        TextLimit.append(line + "\n", to: &builds[builds.count - 1].text)
    }

    /// Records that the test binary has printed `PASS` at its end. While a test runs exclusively, the line is that test's output.
    mutating func finish(_ package: String?) {
        edit(package) { if !$0.isBusy { $0.isFinished = true } }
    }

    /// Returns whether a test is running, according to the console.
    func isRunning(_ name: String) -> Bool { unnamed.open[name] != nil }

    /// Starts a test.
    /// - Returns: Whether the test can have started. It cannot while another test runs exclusively, unless it is a subtest of that test.
    @discardableResult
    mutating func start(_ name: String, package: String?) -> Bool {
        var isStarted = true
        let isPrinted = package == nil
        edit(package) { package in
            let isQuoted =
                package.isBusy && !name.hasPrefix((package.alone ?? "") + "/")
                || !package.resumed.isEmpty && !name.contains("/")
            guard !isPrinted || !isQuoted else { return isStarted = false }
            package.hasStarts = true
            package.isFinished = false
            package.waiting.remove(name)
            if !name.contains("/"), !Self.isBenchmark(name) { package.alone = name }
            guard package.started.count < ReportContent.maximumItems else { return }
            let name = TextLimit.cut(name, toBytes: TextLimit.nameBytes)
            package.open[name] = ""
            package.started.append(name)
        }
        if isStarted { isVerbose = true }
        return isStarted
    }

    /// Pauses a test until those that run exclusively have ended.
    mutating func pause(_ name: String, package: String?) {
        edit(package) { package in
            if package.alone == name { package.alone = nil }
            if package.open[name] != nil { package.waiting.insert(name) }
        }
    }

    /// Continues a paused test.
    mutating func goOn(_ name: String, package: String?) {
        edit(package) { package in
            if package.waiting.remove(name) != nil, !name.contains("/") { package.resumed.insert(name) }
        }
    }

    /// Returns whether a name is a benchmark's. Go prints only the start of a benchmark.
    static func isBenchmark(_ name: String) -> Bool { name.hasPrefix("Benchmark") }

    /// Returns whether a printed result can be a test's own: the test is running, or starts are not printed. Benchmarks have no start.
    func mayEnd(_ name: String) -> Bool {
        unnamed.open[name] != nil || !unnamed.hasStarts || Self.isBenchmark(name)
    }

    /// Adds output.
    /// - Parameter test: The test; `nil` for output of the package itself.
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

    /// Records a test's result that was printed within its own output, after a line without a line feed. The event with the result may be missing.
    mutating func tell(_ name: String, _ outcome: TestResult.Outcome, package: String) {
        edit(package) { package in
            if package.open[name] != nil { package.reported[name] = outcome }
        }
    }

    /// Adds output of a test that has ended: without `-v` it follows the result.
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
            package.waiting.remove(name)
            package.resumed.remove(name)
            package.hasFailure = package.hasFailure || outcome.isFailure
            package.tests.append(result)
        }
    }

    /// Records that a package's end line was printed as a test's output. The process then ended during the test although the package passed
    /// (`syscall.Exit(0)`), unless the test printed the line itself. The last such line of a run counts, which is followed by the process's end.
    mutating func cut(_ name: String, package: String) {
        let name = TextLimit.cut(name, toBytes: TextLimit.nameBytes)
        edit(package) { $0.cut = name }
    }

    /// Records that the test's own result was printed, so the test itself printed the package's end line.
    mutating func unCut(_ name: String, package: String) {
        let name = TextLimit.cut(name, toBytes: TextLimit.nameBytes)
        edit(package) { if $0.cut == name { $0.cut = nil } }
    }

    /// Ends the run of a package whose end line appeared in a test's output. The next run can be cut again.
    /// - Parameter test: The test that the event names; `nil` for the package's own event.
    /// - Returns: Whether the run was cut in this test, so that the event describes the package's end and not the test's.
    @discardableResult
    mutating func endCut(_ test: String?, package: String) -> Bool {
        guard let name = packages[package]?.cut,
            test.map({ TextLimit.cut($0, toBytes: TextLimit.nameBytes) == name }) ?? true
        else { return false }
        let suite = TextLimit.cut(package, toBytes: TextLimit.nameBytes)
        edit(package) { package in
            package.cut = nil
            package.tests[package.first...].removeAll {
                $0.name == name && $0.suite == suite && $0.outcome == .passed
            }
            if package.open[name] == nil {
                package.open[name] = ""
                package.started.append(name)
            }
        }
        endPackage(package, isFailed: false)
        return true
    }

    /// Ends a package. A package that failed without a failing test is itself a failed test: it could not be built, or ended by a panic, a data race
    /// or `os.Exit`.
    /// - Parameter isEmpty: Whether it has no tests.
    mutating func endPackage(_ name: String, isFailed: Bool, reason: String = "", isEmpty: Bool = false) {
        if !isEmpty { isTested = true }
        let suite = TextLimit.cut(name, toBytes: TextLimit.nameBytes)
        edit(name) { package in
            if !isFailed { Self.believe(&package) }
            let crash = GoMessages.panic(in: package.output)
            for name in package.started {
                guard let outcome = package.reported[name], let output = package.open.removeValue(forKey: name) else {
                    continue
                }
                package.hasFailure = package.hasFailure || outcome.isFailure
                package.tests.append(
                    TestResult(
                        suite: suite, name: name, outcome: outcome, message: outcome == .passed ? nil : output))
            }
            // If a binary ran to its end, all its tests have ended. A start without an end was then printed by a test.
            if isFailed || !package.isFinished { Self.endOpen(&package, suite: suite, crash: crash) }
            (package.open, package.reported, package.started) = ([:], [:], [])
            (package.waiting, package.resumed) = ([], [])
            (package.isEnded, package.isFinished, package.isEmpty) = (true, false, isEmpty)
            // The next run of the package has its own tests and output.
            defer { (package.first, package.output) = (package.tests.count, "") }
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
                        suite: suite, name: Self.packageTest, outcome: .failed,
                        message: text.isEmpty
                            ? "the package failed" : String(text.trimmingSuffix(while: \.isWhitespace))))
            }
        }
    }

    /// The name of a test that represents a whole package.
    static let packageTest = "(package)"
    /// The most packages whose compiler messages are stored.
    private static let maximumBuilds = 1000

    /// The compiler's messages by package.
    private struct Builds {
        var texts: [String: String] = [:]
        /// The first message with a place. A package can fail because of one that it imports.
        var first: String?

        init(_ builds: [(package: String, text: String)]) {
            for build in builds where texts[build.package] == nil { texts[build.package] = build.text }
            first = builds.first { GoMessages.place(in: $0.text) != nil }?.text
        }
    }

    /// Returns the test with the compiler's messages and their first place, if it represents a package that could not be built.
    private func explained(_ test: TestResult, by builds: Builds) -> TestResult {
        let own = builds.texts[test.suite]
        guard test.name == Self.packageTest, test.outcome == .failed, test.path == nil,
            let reason = test.message?.prefix(while: { !$0.isNewline }),
            own != nil || ["build failed", "setup failed"].contains(where: reason.hasPrefix),
            let text = own ?? builds.first
        else { return test }
        var test = test
        if test.message?.contains(text) != true { test.message.append(line: text) }
        test.message = test.message.map { String($0.trimmingSuffix(while: \.isWhitespace)) }
        if let place = GoMessages.place(in: text) {
            (test.path, test.line) = (root.shown(place.path), place.line)
        }
        return test
    }

    /// Changes apparent failures of a package that passed: a test printed them.
    private static func believe(_ package: inout Package) {
        let started = Set(package.started)
        for index in package.tests.indices[package.first...] where package.tests[index].outcome.isFailure {
            guard started.contains(package.tests[index].name) else { continue }
            (package.tests[index].outcome, package.tests[index].message) = (.passed, nil)
        }
        package.tests[package.first...].removeAll { $0.outcome.isFailure }
        package.reported = package.reported.mapValues { $0.isFailure ? .passed : $0 }
    }

    /// Assigns the results collected without a package's name to the package whose line has come.
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
            existing.waiting.formUnion(moved.waiting)
            existing.isFinished = moved.isFinished
        }
    }

    mutating func content() -> ReportContent {
        if !unnamed.tests.isEmpty || !unnamed.open.isEmpty { name("") }
        for name in order { endCut(nil, package: name) }
        for name in order where packages[name]?.isEnded == false {
            let isBusy = packages[name].map { $0.isBegun || !$0.open.isEmpty || !$0.tests.isEmpty } ?? false
            guard isBusy else { continue }
            problems.append(
                "the output of go test ends before "
                    + (name.isEmpty ? "its package does" : "the package \(TextLimit.cut(name, toBytes: 200)) does"))
            endPackage(name, isFailed: true, reason: "it has no end")
        }
        var (tests, places): ([TestResult], [Int?]) = ([], [])
        let builds = Builds(self.builds)
        for (number, name) in order.enumerated() {
            guard let package = packages[name] else { continue }
            // With `-count 2` each test runs twice. The runs are merged into one test only if the package passed in the end.
            var runs =
                package.isFailed ? package.tests.map { explained($0, by: builds) } : Self.sortedByName(package.tests)
            // Without `-v`, a package that passed prints none of its tests; it reports if it has none.
            if !isVerbose, runs.isEmpty, package.isEnded, !package.isFailed, !package.isEmpty, !name.isEmpty {
                let suite = TextLimit.cut(name, toBytes: TextLimit.nameBytes)
                runs = [TestResult(suite: suite, name: Self.packageTest, outcome: .passed)]
            }
            tests += runs
            places += runs.map { _ in package.isFailed ? nil : number }
        }
        var content = ReportContent(tests: JUnitRetries.joined(tests, within: places), problems: problems)
        content.hasNoTests = !order.isEmpty && !isTested && tests.isEmpty
        return content
    }

    /// Returns the tests with the runs of each test next to each other, in the order of their first runs.
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
}
