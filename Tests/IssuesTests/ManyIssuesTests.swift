import Model
import TestSupport
import Testing

@testable import Issues

/// The cost of comparing a large report with the integration before grows with its length, whatever changed.
@Suite(.proves(.reports, "Comparing large reports takes linear time, whatever changed"))
struct ManyIssuesTests {
    /// The difference between the findings of now and the issues of before.
    enum Shape: String, CaseIterable, CustomTestStringConvertible {
        case asTheyWere, none, new, twiceAsMany, half, fromTheEnd, inAnotherOrder
        var testDescription: String { rawValue }
    }

    /// Returns findings of four files, of which some have the same content.
    /// - Parameter contents: The number of different contents.
    private static func found(_ range: Range<Int>, contents: Int) -> [Baseline.Found] {
        let names = [Name(nearest: "debug")]
        return range.map { number in
            Baseline.Found(
                fingerprint: "f\(number)", content: "c\(number % contents)",
                finding: Finding(
                    category: .analyzerWarning, message: "m\(number)", rule: "R", path: "f\(number % 4).c",
                    line: number + 1), configurations: names, step: .analyzing)
        }
    }

    private static func current(_ shape: Shape, count: Int, contents: Int) -> [Baseline.Found] {
        switch shape {
        case .asTheyWere: found(0..<count, contents: contents)
        case .none: []
        case .new:
            found(count..<2 * count, contents: contents).map { found in
                var found = found
                found.content = "new " + found.content
                return found
            }
        case .twiceAsMany: found(0..<2 * count, contents: contents)
        case .half: found(0..<count / 2, contents: contents)
        case .fromTheEnd: found(0..<count, contents: contents).reversed()
        case .inAnotherOrder:
            found(0..<count, contents: contents).map { found in
                var found = found
                found.finding.line = (found.finding.line ?? 0) * 7919 % 1_000_003 + 1
                return found
            }
        }
    }

    private static func cost(_ shape: Shape, count: Int, contents: Int) -> Double {
        let before = Baseline.compare(
            current: Baseline.joined(found(0..<count, contents: contents)), before: [], number: 1)
        let now = current(shape, count: count, contents: contents)
        let start = threadSeconds()
        let joined = Baseline.joined(now)
        _ = Baseline.needsChanges(current: joined, before: before)
        let issues = Baseline.compare(current: joined, before: before, number: 2)
        let seconds = threadSeconds() - start
        #expect(issues.count { $0.status != .resolved } == now.count)
        #expect(Set(issues.map(\.fingerprint)).count == issues.count, "no name twice")
        return seconds
    }

    @Test(arguments: Shape.allCases, [1, 100_000])
    func testThatFourTimesAsManyTakeFourTimesAsLong(shape: Shape, contents: Int) {
        let (first, second) = (
            Self.cost(shape, count: 4000, contents: contents), Self.cost(shape, count: 16_000, contents: contents)
        )
        #expect(second < max(first * 9, 0.1 * TestLimits.scale), "\(first) s, four times that \(second) s")
    }

    /// Names are made in the same way.
    @Test(arguments: [nil, "int a;"]) func testThatNamingTakesLinearTime(line: String?) {
        func cost(_ count: Int) -> Double {
            let findings = Self.found(0..<count, contents: 1).map(\.finding)
            let start = threadSeconds()
            var names: Set<String> = []
            Fingerprinter.forEachKeys(of: findings, lineText: { _, _ in line }) { names.insert($1.place) }
            let seconds = threadSeconds() - start
            #expect(names.count == count, "no name twice")
            return seconds
        }
        let (first, second) = (cost(4000), cost(16_000))
        #expect(second < max(first * 9, 0.1 * TestLimits.scale), "\(first) s, four times that \(second) s")
    }
}
