import Model
import TestSupport
import Testing

@testable import Issues

@Suite struct BaselineTests {
    private let debug = Name("debug")
    private let release = Name("release")

    /// Returns findings of a file `a.c`, written as `TEXT@LINE` or `PATH:TEXT@LINE`.
    static func found(_ texts: [String], in configuration: Name? = Name("debug")) -> [Baseline.Found] {
        var counts: [String: Int] = [:]
        return texts.map { text in
            let parts = text.split(separator: ":")
            let path = parts.count > 1 ? String(parts[0]) : "a.c"
            let line = parts[parts.count - 1].split(separator: "@")
            let content = String(line[0])
            let place = "\(path):\(content)"
            let number = counts[place, default: 0]
            counts[place] = number + 1
            return Baseline.Found(
                fingerprint: number == 0 ? place : "\(place)#\(number)", content: content,
                finding: Finding(
                    category: .warning, message: content, rule: "r", path: path,
                    line: line.count > 1 ? Int(line[1]) : 1),
                configurations: configuration.map { [$0] } ?? [])
        }
    }

    private func compare(
        _ texts: String..., before: [Model.Issue] = [], changes: SourceChanges = SourceChanges(), number: Int = 1,
        unlooked: (Model.Issue) -> [Name]? = { _ in nil }
    ) -> [Model.Issue] {
        Baseline.compare(
            current: Self.found(texts), before: before, changes: changes, number: number, unlooked: unlooked)
    }

    private func words(_ issues: [Model.Issue]) -> [String] {
        issues.map { "\($0.content) \($0.status) \($0.age)" }
    }

    @Test(
        .proves(.issueHistory, "New, unresolved, resolved; nothing is resolved by absence"),
        .proves(.issueHistory, "An issue has its age and its first integration"))
    func testThatIssuesLiveThroughIntegrations() {
        // given
        let first = compare("a", "b")
        #expect(words(first) == ["a new 1", "b new 1"])
        // when: b is gone and c is new
        let second = compare("a", "c", before: first, number: 2)
        #expect(words(second) == ["a unresolved 2", "c new 1", "b resolved 0"])
        #expect(second.map(\.since) == [1, 2, 1])
        // then: a resolved issue is not reported again, and one that comes back is new
        #expect(words(compare("a", before: second)) == ["a unresolved 3", "c resolved 0"])
        let third = compare("b", before: second, number: 3)
        #expect(words(third) == ["b new 1", "a resolved 0", "c resolved 0"])
        #expect(third[0].since == 3)
        #expect(third[0].fingerprint == first[1].fingerprint)
    }

    @Test func testThatWhatNobodyLookedForStays() throws {
        let debug = try #require(debug)
        let first = compare("a", "b")
        let second = compare(before: first) { $0.content == "a" ? [debug] : nil }
        #expect(words(second) == ["a unresolved 2", "b resolved 0"])
    }

    @Test(.proves(.issueHistory, "New, unresolved, resolved; nothing is resolved by absence"))
    func testThatWhatNobodyLookedForFollowsItsLine() throws {
        // given: an issue, and a change that nobody looked at, which renames its file and puts ten lines before it
        let debug = try #require(debug)
        let first = compare("a@5")
        let changes = SourceChanges(files: [
            "a.c": .init(path: "b.c", hunks: [.init(old: 1..<1, new: 1..<11)])
        ])
        // when
        let second = compare(before: first, changes: changes, number: 2) { _ in [debug] }
        let third = compare("b.c:a@15", before: second, number: 3)
        // then
        #expect(second.map(\.finding.path) == ["b.c"])
        #expect(second.map(\.finding.line) == [15])
        #expect(words(third) == ["a unresolved 3"])
        #expect(third[0].fingerprint == first[0].fingerprint)
    }

    @Test func testThatAnIssueKeepsItsNameAndWhoBroughtIt() throws {
        // given
        var first = compare("a")
        let commit = try #require(CommitID("00000000000000000000000000000000000000aa"))
        first[0].introducedBy = Introduction(
            commit: commit, author: "Ada", email: "a@b", strategy: .blameLine, confidence: .low)
        // when
        let second = compare("a", before: first, number: 2)
        // then
        #expect(second[0].introducedBy == first[0].introducedBy)
        #expect(second[0].since == 1)
    }

    @Test func testThatASilencedOneIsNobodysNewOne() {
        var before = compare("a")
        before[0].status = .silenced
        #expect(words(compare("a", before: before)) == ["a unresolved 2"])
        #expect(words(compare(before: before)) == ["a resolved 0"])
    }

    @Test(.proves(.issueHistory, "Fingerprints are the same in other configurations"))
    func testThatTwoConfigurationsAreOneIssue() throws {
        // given two equal findings in debug, of which release has the second line only, and one of its own
        let (debug, release) = (try #require(debug), try #require(release))
        let all = Self.found(["a@1", "a@9"], in: debug) + Self.found(["a@9", "b@3"], in: release)
        // when
        let joined = Baseline.joined(all)
        // then
        #expect(joined.map { $0.finding.line } == [1, 9, 3])
        #expect(joined.map(\.configurations) == [[debug], [debug, release], [release]])
    }

    @Test func testThatTwoOfOneConfigurationAreTwo() {
        #expect(Baseline.joined(Self.found(["a@1", "a@1"])).count == 2)
    }

    @Test(.proves(.issueHistory, "Fingerprints are the same in other configurations"))
    func testThatAConfigurationThatDidNotLookKeepsItsPart() throws {
        let (debug, release) = (try #require(debug), try #require(release))
        var before = compare("a")
        before[0].configurations = [debug, release]
        #expect(compare("a", before: before) { _ in [release] }[0].configurations == [debug, release])
        #expect(compare("a", before: before)[0].configurations == [debug])
    }

    @Test func testThatWhatAnOlderVersionStoredIsKnownByItsName() {
        var before = compare("a", "b")
        for index in before.indices { before[index].content = "" }
        #expect(words(compare("a", before: before)) == ["a unresolved 2", " resolved 0"])
    }
}
