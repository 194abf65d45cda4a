import Encodings

/// A format of report files, recognized by a file's content and not by its name.
enum ReportFormat: Sendable, CaseIterable {
    case junit, nunit2, nunit3, xunitNet, trx, ctest, cppUnit, boostTest
    case checkstyle, cppcheck, cobertura
    case sarif, eventStream, goTestJSON, cargoTestJSON, cargoMessages, jsonFindings, llvmCoverage
    case serializedDiagnostics
    case lcov, tap, automakeResult, summaries, goTest, cargoTest, ctestConsole, swiftTest, sanitizer, lines

    static let unknown =
        "the format is unknown: it is not JUnit, SARIF, TAP or another format of docs/reference/report-formats.md"

    /// Recognizes the format. Fails for an empty file, and for an unknown format.
    init?(of bytes: [UInt8]) {
        // Byte order marks, NULs of UTF-16 and white space do not identify the format.
        let blank: Set<UInt8> = [0xEF, 0xBB, 0xBF, 0xFE, 0xFF, 0x00, 0x20, 0x09, 0x0A, 0x0D]
        guard let start = bytes.firstIndex(where: { !blank.contains($0) }) else { return nil }
        if bytes.starts(with: Array("DIAG".utf8)) {
            self = .serializedDiagnostics
        } else if bytes[start] == UInt8(ascii: "<"), !Self.isPlaceWithoutFile(bytes[start...]) {
            self = Self.xml(bytes)
        } else if bytes[start] == UInt8(ascii: "{") {
            self = Self.object(bytes[start...])
        } else if bytes[start] == UInt8(ascii: "["), Self.isJSONArray(bytes[start...]) {
            self = .jsonFindings
        } else if let format = TextFormat.of(bytes) {
            self = format
        } else {
            return nil
        }
    }

    /// Returns whether the text begins with a place such as `<unknown>:0: warning: …`, which compilers print for diagnostics without a file.
    private static func isPlaceWithoutFile(_ bytes: ArraySlice<UInt8>) -> Bool {
        let rest = bytes.prefix(64).drop { $0 != UInt8(ascii: ">") }.dropFirst()
        return rest.first == UInt8(ascii: ":") && rest.dropFirst().first.map { (0x30...0x39).contains($0) } == true
    }

    /// Returns the format of an XML file. The default is JUnit, whose reader explains what is wrong.
    private static func xml(_ bytes: [UInt8]) -> ReportFormat {
        guard let (name, attributes) = XMLReport.root(of: bytes) else { return .junit }
        switch name {
        case "test-results": return .nunit2
        case "test-run", "test-suite": return .nunit3
        case "assemblies", "assembly": return .xunitNet
        case "TestRun": return attributes["xmlns"]?.contains("TeamTest") == true ? .trx : .cppUnit
        case "Site": return .ctest
        case "TestLog": return .boostTest
        case "checkstyle": return .checkstyle
        case "results" where attributes["version"] != nil: return .cppcheck
        case "coverage": return .cobertura
        default: return .junit
        }
    }

    /// Recognizes a format by an object, for formats that have one per line.
    init?(ofEvent value: JSON) {
        if !value["kind"].isNothing, value["runs"].isNothing {
            self = .eventStream
        } else if value["Action"].string != nil {
            self = .goTestJSON
        } else if value["reason"].string != nil {
            self = .cargoMessages
        } else if value["event"].string != nil, ["suite", "test"].contains(value["type"].string) {
            self = .cargoTestJSON
        } else {
            return nil
        }
    }

    /// Returns the format of a JSON object. The default is SARIF, whose reader explains what is wrong.
    private static func object(_ bytes: ArraySlice<UInt8>) -> ReportFormat {
        let end = bytes.firstIndex(of: 0x0A) ?? bytes.endIndex
        let line = bytes[..<end]
        // `try?` is used because a value of several lines is recognized by its keys.
        if line.count <= EventStreamReader.maximumLineBytes, let value = try? JSON.parse(line), value.isObject {
            if let format = ReportFormat(ofEvent: value) { return format }
            if JSONFinding.isReport(value) { return .jsonFindings }
            return value["type"].string == "llvm.coverage.json.export" ? .llvmCoverage : .sarif
        }
        let beginning = String(decoding: bytes.prefix(1000), as: UTF8.self)
        // A large file is not parsed twice.
        if beginning.contains("\"runs\"") || beginning.contains("sarif") { return .sarif }
        if beginning.hasPrefix("{\"data\":[{\"files\":[") { return .llvmCoverage }
        if beginning.contains("\"kind\"") && beginning.contains("\"payload\"") { return .eventStream }
        if beginning.contains("\"Action\"") && beginning.contains("\"Package\"") { return .goTestJSON }
        if beginning.contains("\"reason\"") && beginning.contains("\"package_id\"") { return .cargoMessages }
        guard end < bytes.endIndex || line.count > EventStreamReader.maximumLineBytes else { return .sarif }
        // The file has several lines, or one that is too long for a stream: the whole file must be one value.
        guard let value = try? JSON.parse(bytes) else { return .sarif }
        if value["type"].string == "llvm.coverage.json.export" { return .llvmCoverage }
        return value["runs"].isNothing && JSONFinding.isReport(value) ? .jsonFindings : .sarif
    }

    /// Returns whether a bracket begins a JSON array. Many lines of logs begin with one, so the next character is checked.
    private static func isJSONArray(_ bytes: ArraySlice<UInt8>) -> Bool {
        let next = bytes.dropFirst().first { $0 > 0x20 }
        return next == UInt8(ascii: "{") || next == UInt8(ascii: "]")
    }

    /// The subject of reports in the format.
    var subject: ReportContent.Subject {
        switch self {
        case .junit, .nunit2, .nunit3, .xunitNet, .trx, .ctest, .cppUnit, .boostTest: .tests
        case .eventStream, .goTestJSON, .cargoTestJSON, .tap, .automakeResult, .summaries: .tests
        case .goTest, .cargoTest, .ctestConsole, .swiftTest: .tests
        case .checkstyle, .cppcheck, .sarif, .cargoMessages, .jsonFindings, .serializedDiagnostics: .findings
        case .cobertura, .llvmCoverage, .lcov: .coverage
        case .sanitizer, .lines: .lines
        }
    }

    func read(_ bytes: [UInt8], root: SourceRoot) -> ReportContent {
        switch self {
        case .junit: JUnitReader.read(bytes, root: root)
        case .nunit2: XMLTests.read(bytes, NUnit2Document(root: root))
        case .nunit3: XMLTests.read(bytes, NUnit3Document(root: root))
        case .xunitNet: XMLTests.read(bytes, XUnitNetDocument(root: root))
        case .trx: XMLTests.read(bytes, TRXDocument(root: root))
        case .ctest: XMLTests.read(bytes, CTestDocument(root: root))
        case .cppUnit: XMLTests.read(bytes, CppUnitDocument(root: root))
        case .boostTest: XMLTests.read(bytes, BoostTestDocument(root: root))
        case .checkstyle: XMLTests.read(bytes, CheckstyleDocument(root: root))
        case .cppcheck: XMLTests.read(bytes, CppcheckDocument(root: root))
        case .cobertura: XMLTests.read(bytes, CoberturaDocument(root: root))
        case .sarif: SARIFReader.read(bytes, root: root)
        case .eventStream: EventStreamReader.read(bytes, root: root)
        case .goTestJSON, .goTest: GoTestReader.read(bytes, root: root)
        case .cargoTestJSON: CargoTestReader.readJSON(bytes, root: root)
        case .cargoMessages: CargoMessages.read(bytes, root: root)
        case .jsonFindings: JSONFinding.read(bytes, root: root)
        case .llvmCoverage: LLVMCoverage.read(bytes, root: root)
        case .serializedDiagnostics: SerializedDiagnostics.read(bytes, root: root)
        case .lcov: LCOVReader.read(bytes, root: root)
        case .tap: TAPReader.read(bytes, root: root)
        case .automakeResult: AutomakeConsole.readResult(bytes)
        case .summaries: SummaryConsoles.read(bytes, root: root)
        case .cargoTest: CargoTestReader.read(bytes, root: root)
        case .ctestConsole: CTestConsoleReader.read(bytes, root: root)
        case .swiftTest: SwiftTestLog.read(bytes, root: root)
        case .sanitizer: SanitizerReader.read(bytes, root: root)
        case .lines: LintLines.read(bytes, root: root)
        }
    }
}

/// A test tool whose reports identify it, and whose tests' output can be separated from other tools' consoles.
enum TestTool: Sendable, Hashable {
    /// `go test -json`, whose report contains the output of its tests.
    case go
    /// pytest's JUnit. The console shows the beginning and the end of its sessions.
    case pytest
}

extension ReportFormat {
    /// The tool that alone writes the format; `nil` for any other format.
    var tool: TestTool? { self == .goTestJSON ? .go : nil }
}
