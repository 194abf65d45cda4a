import Model
import Reports

/// A reader, with a rule for the inputs that it reads.
struct Subject: Sendable {
    var name: String
    /// Whether a file is a seed for it, by the format that the file is read as.
    var takes: @Sendable (_ format: String?) -> Bool
    /// Reads the bytes and returns the number of results, so that the compiler cannot remove the reading.
    var read: @Sendable ([UInt8]) -> Int

    static let root = FileTable.root

    private static func report(_ name: String, _ formats: String...) -> Subject {
        Subject(name: name) {
            formats.contains($0 ?? "-")
        } read: { bytes in
            let content = ReportReader.read(bytes, fileName: "a", root: root)
            return content.tests.count + content.findings.count + content.problems.count
        }
    }

    /// One subject per report format, and one per reader of consoles.
    static let all: [Subject] = [
        report("JUnit", "junit"), report("NUnit, xUnit.net, TRX", "nunit2", "nunit3", "xunitNet", "trx"),
        report("CTest, CppUnit, Boost", "ctest", "cppUnit", "boostTest"),
        report("checkstyle, cppcheck", "checkstyle", "cppcheck"),
        report("Cobertura", "cobertura"), report("SARIF", "sarif"), report("event stream", "eventStream"),
        report("go test", "goTest", "goTestJSON"), report("cargo", "cargoTest", "cargoTestJSON", "cargoMessages"),
        report("JSON findings", "jsonFindings"), report("llvm-cov", "llvmCoverage"), report("lcov", "lcov"),
        report("serialized diagnostics", "serializedDiagnostics"), report("TAP", "tap"),
        report("ctest's console", "ctestConsole"),
        report("sanitizers", "sanitizer"), report("linters' lines", "lines"),
        Subject(name: "diagnostics") {
            $0 == "lines" || $0 == "swiftTest" || $0 == "cargoTest"
        } read: { bytes in
            DiagnosticReader.findings(in: bytes, root: root).count
        },
        Subject(name: "XCTest's console") {
            $0 == "swiftTest"
        } read: { bytes in
            XCTestConsoleReader.tests(in: bytes, root: root, listed: ["ATests.XTests/testB"]).count
        },
        Subject(name: "Swift Testing's console") {
            $0 == "swiftTest"
        } read: { bytes in
            SwiftTestingConsoleReader.tests(in: bytes, root: root).count
        },
    ]
}
