import Encodings
import Execution

/// The tests that a job's output says have ended, while the job runs.
///
/// Only lines of well-known forms count: those of XCTest, Swift Testing, Go, Cargo, pytest with `-v`, CTest and TAP. The result is read from the
/// whole output and the reports by another process, when the job has ended; this is for users who wait.
struct TestsSoFar: Sendable, Equatable {
    var passed = 0
    var failed = 0

    /// The most bytes of a log that are read, its newest: a page does not wait for more.
    static let maximumBytes: Int64 = 4 << 20

    /// Counts the tests in the output of a step. Blocks.
    /// - Parameters:
    ///   - start: The offset at which the step's output begins.
    init(in log: AttemptLog, from start: Int64) throws {
        let from = max(start, log.size - Self.maximumBytes)
        let bytes = try log.read(at: from, count: Int(log.size - from))
        for line in bytes.split(separator: UInt8(ascii: "\n")) { add(line) }
    }

    init() {}

    /// Adds the test that a line says has ended, if it is such a line.
    mutating func add(_ line: ArraySlice<UInt8>) {
        let text = line.drop { $0 == UInt8(ascii: " ") }
        if Self.isPass(text) { passed += 1 } else if Self.isFailure(text) { failed += 1 }
    }

    private static func isPass(_ line: ArraySlice<UInt8>) -> Bool {
        begins(line, "Test Case '") && has(line, casePassed)
            || begins(line, "✔ Test ") && has(line, passedAfter)
                && !begins(line, "✔ Test run ")
            || begins(line, "--- PASS: ") || begins(line, "test ") && ends(line, " ... ok")
            || has(line, item) && has(line, itemPassed) || has(line, listed) && has(line, listedPassed)
            || begins(line, "ok ") && isNumbered(line.dropFirst(3))
    }

    private static func isFailure(_ line: ArraySlice<UInt8>) -> Bool {
        begins(line, "Test Case '") && has(line, caseFailed)
            || begins(line, "✘ Test ") && has(line, failedAfter)
                && !begins(line, "✘ Test run ")
            || begins(line, "--- FAIL: ")
            || begins(line, "test ") && ends(line, " ... FAILED") || has(line, item) && has(line, itemFailed)
            || has(line, listed) && has(line, listedFailed)
            || begins(line, "not ok ") && isNumbered(line.dropFirst(7))
    }

    private static func isNumbered(_ line: ArraySlice<UInt8>) -> Bool {
        line.first.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
    }
    private static func begins(_ line: ArraySlice<UInt8>, _ text: StaticString) -> Bool {
        text.withUTF8Buffer { line.starts(with: $0) }
    }

    private static func ends(_ line: ArraySlice<UInt8>, _ text: StaticString) -> Bool {
        text.withUTF8Buffer { line.count >= $0.count && line.suffix($0.count).elementsEqual($0) }
    }

    private static func has(_ line: ArraySlice<UInt8>, _ word: ByteSearch) -> Bool {
        line.withUnsafeBytes { word.isIn($0) }
    }

    private static let (casePassed, caseFailed) = (ByteSearch("' passed (".utf8), ByteSearch("' failed (".utf8))
    private static let (passedAfter, failedAfter) = (
        ByteSearch(" passed after ".utf8), ByteSearch(" failed after ".utf8)
    )
    private static let (item, itemPassed) = (ByteSearch("::".utf8), ByteSearch(" PASSED".utf8))
    private static let itemFailed = ByteSearch(" FAILED ".utf8)
    private static let (listed, listedPassed) = (ByteSearch(" Test #".utf8), ByteSearch("   Passed ".utf8))
    private static let listedFailed = ByteSearch("***Failed".utf8)
}
