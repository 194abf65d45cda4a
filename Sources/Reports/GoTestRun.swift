import Model

/// What `go test` says of its packages and tests, whether as JSON or for people.
struct GoTestRun: Sendable {
    struct Package: Sendable {
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
        /// The index in `tests` of the first test of this run of the package. Never greater than the number of `tests`.
        var first = 0
        /// The test in whose output the end of this run was printed; see `cut`.
        var cut: String?
        /// The test that runs alone now; another one starts when it has ended or waits for its turn.
        var alone: String?
        /// Tests that wait for their turn (`t.Parallel()`), which have not run when the process ends.
        var waiting: Set<String> = []
        /// Tests that waited and go on, after all that run alone.
        var resumed: Set<String> = []
        /// Whether the test binary has printed `PASS`, so that it ran to its end.
        var isFinished = false
        /// Whether it has no tests.
        var isEmpty = false

        /// Whether a test runs alone and has not ended.
        var isBusy: Bool { alone.map { open[$0] != nil } ?? false }
    }

    private let root: SourceRoot
    private var packages: [String: Package] = [:]
    /// Tests of which only the package's line after them will tell whose they are.
    private var unnamed = Package()
    private var order: [String] = []
    private var results = 0
    /// Whether it is said of each test that it starts: by `-v` and `-json`.
    private var isVerbose = false
    /// What the compiler and the loader said, by package, in the order in which they spoke.
    private var builds: [(package: String, text: String)] = []
    /// Whether a package was tested, and not only passed over since it has no tests.
    private var isTested = false
    private(set) var problems: [String] = []

    init(root: SourceRoot) { self.root = root }

    /// Whether anything of a test run was there.
    var isEmpty: Bool { order.isEmpty && unnamed.started.isEmpty && unnamed.tests.isEmpty }

    /// An event of the package was there.
    mutating func begin(_ package: String) {
        isVerbose = true
        edit(package) { $0.isBegun = true }
    }

    /// Whether a test runs alone now, so that other lines are its output.
    var isBusy: Bool { unnamed.isBusy }

    /// A line of what was said while a package was built.
    /// - Parameter package: `kit [kit.test]`, as it is printed.
    mutating func build(_ line: String, of package: String) {
        var name = package[...]
        // A package of tests is built beside the one that it tests, whose name is in brackets.
        if name.hasSuffix(".test]"), let open = name.range(ofLast: " [") {
            name = name[open.upperBound...].dropLast(".test]".count)
        }
        if builds.last?.package != String(name) {
            guard builds.count < Self.maximumBuilds else { return }
            builds.append((TextLimit.cut(String(name), toBytes: TextLimit.nameBytes), ""))
        }
        TextLimit.append(line + "\n", to: &builds[builds.count - 1].text)
    }

    /// The test binary says that it is at its end: `PASS`. While a test runs alone, it is that test's output.
    mutating func finish(_ package: String?) {
        edit(package) { if !$0.isBusy { $0.isFinished = true } }
    }

    /// Whether a test runs, of which the console tells.
    func isRunning(_ name: String) -> Bool { unnamed.open[name] != nil }

    /// - Returns: Whether the test can have started: not while another runs that it is no subtest of.
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

    /// A test waits until those that run alone have ended.
    mutating func pause(_ name: String, package: String?) {
        edit(package) { package in
            if package.alone == name { package.alone = nil }
            if package.open[name] != nil { package.waiting.insert(name) }
        }
    }

    /// A test that waited goes on.
    mutating func goOn(_ name: String, package: String?) {
        edit(package) { package in
            if package.waiting.remove(name) != nil, !name.contains("/") { package.resumed.insert(name) }
        }
    }

    /// Whether a name is a benchmark's, of which Go prints only the start.
    static func isBenchmark(_ name: String) -> Bool { name.hasPrefix("Benchmark") }

    /// Whether a printed result can be a test's own: the test is running, or starts are not printed. Benchmarks have no start.
    func mayEnd(_ name: String) -> Bool {
        unnamed.open[name] != nil || !unnamed.hasStarts || Self.isBenchmark(name)
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
            package.waiting.remove(name)
            package.resumed.remove(name)
            package.hasFailure = package.hasFailure || outcome.isFailure
            package.tests.append(result)
        }
    }

    /// Notes that a package's end was printed as a test's output: its process ended in the middle of the test, although the package passed
    /// (`syscall.Exit(0)`), unless the test has printed the line itself. The last such line of a run counts, which the process's end follows.
    mutating func cut(_ name: String, package: String) {
        let name = TextLimit.cut(name, toBytes: TextLimit.nameBytes)
        edit(package) { $0.cut = name }
    }

    /// The test's own result was printed, so that it printed the package's end itself.
    mutating func unCut(_ name: String, package: String) {
        let name = TextLimit.cut(name, toBytes: TextLimit.nameBytes)
        edit(package) { if $0.cut == name { $0.cut = nil } }
    }

    /// Ends the run of a package that a test's output has cut. The next run can be cut again.
    /// - Parameter test: The test that the event names; `nil` for the package's own event.
    /// - Returns: Whether the run was cut in this test, so that the event tells the package's end and not the test's.
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

    /// A package's own end. A package that failed without a failing test is itself a failed test: it could not be built, or ended by a panic, a
    /// data race or `os.Exit`.
    /// - Parameter isEmpty: Whether it has no tests.
    mutating func endPackage(_ name: String, isFailed: Bool, reason: String = "", isEmpty: Bool = false) {
        if !isEmpty { isTested = true }
        let suite = TextLimit.cut(name, toBytes: TextLimit.nameBytes)
        edit(name) { package in
            if !isFailed { Self.believe(&package) }
            let crash = GoMessages.panic(in: package.output)
            for name in package.started {
                guard let outcome = package.told[name], let output = package.open.removeValue(forKey: name) else {
                    continue
                }
                package.hasFailure = package.hasFailure || outcome.isFailure
                package.tests.append(
                    TestResult(
                        suite: suite, name: name, outcome: outcome, message: outcome == .passed ? nil : output))
            }
            // Of a binary that ran to its end no test is without one: what began and did not end, a test has printed.
            if isFailed || !package.isFinished { Self.endOpen(&package, suite: suite, crash: crash) }
            (package.open, package.told, package.started) = ([:], [:], [])
            (package.waiting, package.resumed) = ([], [])
            (package.isEnded, package.isFinished, package.isEmpty) = (true, false, isEmpty)
            // The next run of the package has its own output.
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

    /// The name of a test that is a whole package.
    static let packageTest = "(package)"
    /// The most packages whose compiler's messages are kept.
    private static let maximumBuilds = 1000

    /// What the compiler said, in a form in which a package's message is found at once.
    private struct Builds {
        var texts: [String: String] = [:]
        /// The first message that names a place. A package fails with one that it imports.
        var first: String?

        init(_ builds: [(package: String, text: String)]) {
            for build in builds where texts[build.package] == nil { texts[build.package] = build.text }
            first = builds.first { GoMessages.place(in: $0.text) != nil }?.text
        }
    }

    /// Adds the compiler's messages, with the first file and line, to a package that could not be built.
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
            // `-count 2` runs a test twice, which is one test only where the package passed in the end.
            var runs =
                package.isFailed ? package.tests.map { explained($0, by: builds) } : Self.sortedByName(package.tests)
            // Without `-v` a package that passed names none of its tests; it says so where it has none.
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
}
