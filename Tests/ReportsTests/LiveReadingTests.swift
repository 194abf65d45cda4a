import Model
import TestSupport
import Testing

@testable import Reports

@Suite struct LiveReadingTests {
    private static let root = SourceRoot(mountedAt: "/w")

    @Test func testThatFindingsComeWithTheirLine() {
        // given
        let log = Array(
            "/w/a.swift:1:2: error: first\nnoise\n/w/b.swift:3:4: warning: second\n/w/c.swift:5:6: error: ".utf8)
        var reading = LiveReading(.diagnostics, root: Self.root)
        var counts: [Int] = []
        // when: byte by byte, as a slow tool prints
        for byte in log {
            reading.read([byte])
            counts.append(reading.findings.count)
        }
        // then
        #expect(reading.findings.map(\.message) == ["first", "second"])
        #expect(reading.findings.map(\.path) == ["a.swift", "b.swift"])
        #expect(reading.findings.map(\.line) == [1, 3])
        #expect(counts.firstIndex(of: 1) == log.firstIndex(of: 0x0A))
    }

    @Test(
        .proves(
            .programs,
            "`martlet run` shows progress in one line on a terminal, plain lines elsewhere, and findings and failing tests with file and line at once"
        ))
    func testThatTestsCountOnceTheyHaveEnded() {
        // given
        var reading = LiveReading(.tests, root: Self.root)
        // when
        reading.read(
            Array(
                "Test Suite 'KitTests' started at 2026-01-01\nTest Case 'KitTests.testA' started at 2026-01-01\n".utf8))
        let before = reading.tests
        reading.read(
            Array(
                """
                Test Case 'KitTests.testA' passed (0.1 seconds)
                Test Case 'KitTests.testB' started at 2026-01-01
                /w/Tests/KitTests.swift:7: error: KitTests.testB : XCTAssertTrue failed
                Test Case 'KitTests.testB' failed (0.1 seconds)
                ◇ Test run started.
                ◇ Test one() started.
                ◇ Test two() started.
                ✘ Test two() recorded an issue at More.swift:6:5: Expectation failed: 1 == 2
                ✘ Test two() failed after 0.001 seconds with 1 issue.

                """.utf8))
        // then
        #expect(before.isEmpty)
        #expect(reading.tests.map(\.name) == ["testA", "testB", "two()"])
        #expect(reading.tests.map(\.outcome) == [.passed, .failed, .failed])
        #expect(reading.tests.map(\.path) == [nil, "Tests/KitTests.swift", "More.swift"])
    }

    @Test func testThatALineWithoutAnEndHasALimit() {
        var reading = LiveReading(.diagnostics, root: Self.root)
        let part = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 16)
        for _ in 0..<64 { reading.read(part) }
        reading.read(Array("\n/w/a.swift:1:2: error: after it\n".utf8))
        #expect(reading.findings.map(\.message) == ["after it"])
    }
}
