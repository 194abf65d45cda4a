import Model
import TestSupport
import Testing

@Suite struct CoverageTests {
    private func file(_ path: String, _ covered: Int, _ total: Int) -> Coverage.File {
        Coverage.File(path: path, lines: .init(covered: covered, total: total))
    }

    @Test func testThatSharesAreWithinTheirBounds() {
        #expect(Coverage.Share(covered: 9, total: 4) == Coverage.Share(covered: 4, total: 4))
        #expect(Coverage.Share(covered: -1, total: -1).percent == nil)
        #expect(Coverage.Share(covered: 1, total: 4).percent == 25)
        #expect((Coverage.Share(covered: .max, total: .max) + Coverage.Share(covered: 1, total: 1)).total == .max)
    }

    @Test func testThatTotalsAreThoseOfTheFiles() {
        let coverage = Coverage(files: [file("b", 1, 4), file("a", 3, 4)])
        #expect(coverage.files.map(\.path) == ["a", "b"])
        #expect(coverage.lines == .init(covered: 4, total: 8))
        #expect(coverage.functions == nil)
    }

    @Test func testThatOfAFileInTwoReportsTheBetterCounts() {
        let both = Coverage(files: [file("a", 1, 4)]) + Coverage(files: [file("a", 3, 4), file("b", 0, 2)])
        #expect(both.files == [file("a", 3, 4), file("b", 0, 2)])
    }

    @Test(.proves(.reports, "Coverage of llvm-cov, lcov and Cobertura: totals, files, delta"))
    func testThatADeltaNamesWhatChangedAndTheWorstFirst() {
        // given: files that lose, gain, stay, appear and disappear
        let before = Coverage(files: [file("lost", 4, 4), file("gained", 0, 4), file("same", 2, 4), file("gone", 1, 1)])
        let after = Coverage(files: [file("lost", 3, 4), file("gained", 4, 4), file("same", 2, 4), file("new", 0, 3)])
        // when
        let delta = CoverageDelta(from: before, to: after)
        // then
        #expect(delta.files.map(\.path) == ["lost", "gained", "gone", "new"])
        #expect(delta.files.map(\.points) == [-25, 100, nil, nil])
        #expect(delta.before == .init(covered: 7, total: 13))
        #expect(delta.after == .init(covered: 9, total: 15))
        #expect(CoverageDelta(from: before, to: before).files == [])
        #expect(CoverageDelta(from: Coverage(files: []), to: after).points == nil)
    }

    @Test(
        .proves(.reports, "Coverage of llvm-cov, lcov and Cobertura: totals, files, delta"),
        arguments: [
            (0, 0, "–"), (0, 3, "0.0 %"), (2, 3, "66.6 %"), (9999, 10_000, "99.9 %"), (3, 3, "100.0 %"),
            (1, 8, "12.5 %"),
        ])
    func testThatOnlyAllIsAHundred(_ covered: Int, _ total: Int, _ text: String) {
        #expect(Coverage.Share(covered: covered, total: total).text == text)
    }

    @Test(arguments: [
        (5, 10, 4, 10, "\u{2212}10.0"), (1, 3, 2, 3, "+33.3"), (1, 2, 2, 4, "±0.0"),
        (5000, 10_000, 5001, 10_000, "+0.0"),
    ])
    func testThatAChangeIsToldInPoints(_ before: Int, _ of: Int, _ after: Int, _ all: Int, _ text: String) {
        let delta = CoverageDelta(
            from: Coverage(files: [file("a", before, of)]), to: Coverage(files: [file("a", after, all)]))
        #expect(delta.pointsText == text)
        #expect(CoverageDelta(from: Coverage(files: []), to: Coverage(files: [])).pointsText == nil)
    }
}
