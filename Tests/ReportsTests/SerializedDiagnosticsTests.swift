import Model
import TestSupport
import Testing

@testable import Reports

@Suite struct SerializedDiagnosticsTests {
    private let root = SourceRoot(mountedAt: "/kit")

    @Test(.proves(.reports, "Serialized diagnostics of swiftc and clang"))
    func testThatItReadsSwifts() throws {
        let content = ReportReader.read(try Samples.bytes("swift.dia"), fileName: "d.dia", root: root)
        #expect(
            content.findings
                == [
                    Finding(
                        category: .warning, message: "'old()' is deprecated: use new()", rule: "DeprecatedDeclaration",
                        path: "d.swift", line: 3, column: 5),
                    Finding(
                        category: .error, message: "cannot convert value of type 'String' to specified type 'Int'",
                        path: "d.swift", line: 5, column: 23),
                ])
        #expect(content.problems == [])
    }

    @Test(.proves(.reports, "Serialized diagnostics of swiftc and clang"))
    func testThatItReadsClangs() throws {
        let content = ReportReader.read(try Samples.bytes("clang.dia"), fileName: "d.dia", root: root)
        #expect(content.problems == [])
        #expect(content.findings.map(\.rule) == ["-Wstring-compare", "-Wpointer-integer-compare", "-Wunused-variable"])
        #expect(content.findings.map(\.column) == [39, 39, 20])
        #expect(content.findings.allSatisfy { $0.path == "w.c" && $0.line == 1 && $0.category == .warning })
    }

    @Test(.corpus) func testThatItAgreesWithTheConsole() throws {
        let root = SourceRoot(mountedAt: "/home/me/pkg")
        let stored = SerializedDiagnostics.read(try Corpus.file("samples/sample.dia").bytes(), root: root).findings
        let printed = DiagnosticReader.findings(
            in: try Corpus.file("samples/swiftc-diagnostics.txt").bytes(), root: root)
        #expect(Set(stored.map(\.message)) == Set(printed.map(\.message)))
        #expect(Set(stored.map(\.line)) == Set(printed.map(\.line)))
    }

    @Test(.proves(.reports, "Serialized diagnostics of swiftc and clang"), arguments: ["swift.dia", "clang.dia"])
    func testThatItSurvivesBeingCutAnywhere(sample: String) throws {
        let bytes = try Samples.bytes(sample)
        let whole = SerializedDiagnostics.read(bytes, root: root).findings
        for end in 4..<bytes.count {
            let content = SerializedDiagnostics.read(Array(bytes[..<end]), root: root)
            #expect(content.findings == Array(whole.prefix(content.findings.count)))
            // A cut between two blocks, as by a compiler that was killed, cannot be detected.
            #expect(!content.problems.isEmpty || content.findings.count < whole.count || end > bytes.count - 4)
        }
    }

    @Test func testThatAFileOfNothingIsAProblem() {
        #expect(
            SerializedDiagnostics.read(Array("DIAG".utf8), root: root).problems.first?.contains("without a version")
                == true)
        #expect(
            SerializedDiagnostics.read(Array("DIAG\u{0}\u{0}\u{0}\u{0}".utf8), root: root).problems.isEmpty == false)
    }
}
