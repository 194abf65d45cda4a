package import Model

/// Reads XCTest's results from a test command's output.
package enum XCTestConsoleReader {
    package static func tests(in log: [UInt8], root: SourceRoot, listed: [String] = []) -> [TestResult] { [] }
}
