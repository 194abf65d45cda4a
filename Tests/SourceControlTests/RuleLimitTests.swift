import Model
import TestSupport
import Testing

@testable import SourceControl

/// The cost of a commit's rule files for the daemon. A small commit can have many and large ones.
@Suite struct RuleLimitTests {
    /// Returns lines of a wildcard and letters, which match no file.
    private static func rules(_ letter: String, bytes: Int) -> String {
        let line = "*" + String(repeating: letter, count: 4000) + "\n"
        return String(repeating: line, count: bytes / line.utf8.count)
    }

    /// Points `main` to a tree with a directory for each name, which contains only a rule file.
    private static func commit(
        _ directories: [(name: String, rules: String)], _ fixture: Fixture, file: String = ".gitignore"
    ) async throws {
        var lines: [String] = []
        var known: [String: String] = [:]
        for (name, rules) in directories {
            if known[rules] == nil {
                let blob = try await fixture.origin.git(["hash-object", "-w", "--stdin"], input: rules)
                known[rules] = try await fixture.origin.git(["mktree"], input: "100644 blob \(blob)\t\(file)\n")
            }
            lines.append("040000 tree \(try #require(known[rules]))\t\(name)")
        }
        try await commitTree(lines, in: fixture.origin)
    }

    @Test(arguments: [".gitignore", ".gitattributes"])
    func testThatATreeOfTooManyRulesIsRefused(_ file: String) async throws {
        try await withOrigin { fixture in
            // given: five times nearly a MiB, each of them different
            let directories = ["a", "b", "c", "d", "e"].map { letter in
                (letter, Self.rules(letter, bytes: TreeRules.maximumRuleFile))
            }
            try await Self.commit(directories, fixture, file: file)
            // when
            let error = await expectRejection(SourceControlError.self, \.code, .treeRefused) {
                try await fixture.checkout()
            }
            // then
            expectContains("\(try #require(error))", "more than 4 MiB or 200000 rules together")
        }
    }

    @Test func testThatRulesInManyDirectoriesCountOnce() async throws {
        try await withOrigin { fixture in
            // given: together more than a tree may have
            let rules = Self.rules("a", bytes: 128 << 10)
            try await Self.commit((10..<60).map { ("\($0)", rules) }, fixture)
            // when
            let report = try await fixture.checkout()
            // then
            #expect(report.written == 50)
        }
    }

    @Test func testThatShortRulesAreLimitedByTheirNumber() throws {
        // given
        var budget = RuleBudget(operation: "test")
        let most = Array(String(repeating: "a\n", count: RuleBudget.maximumRules).utf8)
        let ignored = try budget.ignored([0]) { () throws(SourceControlError) in most }
        #expect(ignored?.count == RuleBudget.maximumRules)
        // when
        let error = #expect(throws: SourceControlError.self) {
            _ = try budget.attributes([1]) { () throws(SourceControlError) in Array("b text\n".utf8) }
        }
        // then
        #expect(error?.code == .treeRefused)
    }

    @Test func testThatAKnownFileIsNotReadAgain() throws {
        // given
        var budget = RuleBudget(operation: "test")
        _ = try budget.ignored([0]) { () throws(SourceControlError) in Array("a\nb\n".utf8) }
        // when
        let again = try budget.ignored([0]) { () throws(SourceControlError) -> [UInt8]? in
            Issue.record("it was read again")
            return nil
        }
        // then
        #expect(again?.count == 2)
    }

    @Test func testThatMacrosOfMacrosEndNoThreadsStack() throws {
        // given: as many macros as a file may have, each of which sets the next one
        let macros = (0..<50_000).map { "[attr]m\($0) m\($0 + 1)\n" }.joined()
        var rules = AttributeRules()
        rules.add(AttributeRules.File(Array((macros + "a m0\n").utf8)), in: [])
        // when
        let values = try rules.values(of: Array("a".utf8), RuleWatch(operation: "test"))
        // then
        #expect(values.count == 50_001)
        #expect(values["m50000"] == .yes)
    }

    @Test func testThatMacrosThatSetEachOtherEnd() throws {
        // given
        var rules = AttributeRules()
        rules.add(AttributeRules.File(Array("[attr]m n -text\n[attr]n m text\na m\n".utf8)), in: [])
        // when
        let values = try rules.values(of: Array("a".utf8), RuleWatch(operation: "test"))
        // then: the last attribute of a line counts first
        #expect(values == ["m": .yes, "n": .yes, "text": .no])
    }

    /// Returns the error of a question for which all of many rules are tried, because none matches.
    private static func failure(_ watch: RuleWatch, rules count: Int) -> SourceControlError? {
        var rules = IgnoreRules()
        let line = "*" + String(repeating: "a", count: 100) + "\n"
        rules.add(IgnoreRules.patterns(Array(String(repeating: line, count: count).utf8)), in: [])
        let path = Array(String(repeating: "a", count: 99).utf8)
        do throws(SourceControlError) {
            _ = try watch.ask { () throws(SourceControlError) in try rules.isMatched(path, isDirectory: false, watch) }
            return nil
        } catch {
            return error
        }
    }

    @Test func testThatOneQuestionEndsWhenTheTimeIsUp() {
        // given: a clock on which more than the limit passes between two checks
        let start = ContinuousClock.now
        var looks = 0
        let asked = Locked(0)
        let interruption = Interruption {
            asked.withLock { $0 += 1 }
            return false
        }
        let watch = RuleWatch(operation: "test", interruption: interruption) {
            defer { looks += 1 }
            return start + (RuleWatch.maximumTime + .seconds(1)) * looks
        }
        // when
        let error = Self.failure(watch, rules: 1000)
        // then: at the first check, of some forty
        #expect(error?.code == .treeRefused)
        #expect(asked.value == 1)
    }

    @Test func testThatOneQuestionEndsWhenItIsCanceled() {
        // given
        let watch = RuleWatch(operation: "test", interruption: Interruption { true })
        // when, then
        #expect(Self.failure(watch, rules: 1000)?.code == .canceled)
    }

    @Test func testThatTheTimeOfAllQuestionsCounts() {
        // given: a clock that advances by 20 s at each check; a short question checks twice
        let start = ContinuousClock.now
        var looks = 0
        let watch = RuleWatch(operation: "test") {
            defer { looks += 1 }
            return start + .seconds(20) * looks
        }
        // when
        let codes = (0..<2).map { _ in Self.failure(watch, rules: 1)?.code }
        // then: 20 seconds, and then 40 and 20
        #expect(codes == [nil, nil])
        #expect(Self.failure(watch, rules: 1)?.code == .treeRefused)
    }
}
