import Basics
import TestSupport
import Testing

/// Holds the sources to docs/internals/architecture.md and to the rules that the compiler does not check. SwiftPM alone lets an
/// undeclared or transitive import pass.
@Suite struct ArchitectureTests {
    struct Source {
        let path: String
        let target: String
        let text: String
    }

    func sources(in folder: String) throws -> [Source] {
        let root = try Directory(opening: Project.root)
        var found: [Source] = []
        try root.walk(folder, limit: 100_000) { path, status in
            let name = String(decoding: path, as: UTF8.self)
            guard status.kind == .file, name.hasSuffix(".swift") else { return }
            let text = String(decoding: try root.read(path, limit: 4 << 20), as: UTF8.self)
            found.append(Source(path: name, target: String(name.split(separator: "/")[1]), text: text))
        }
        return found
    }

    func text(_ path: String) throws -> String {
        String(decoding: try WholeFile.read(Project.root + "/" + path, limit: 4 << 20), as: UTF8.self)
    }

    private func table() throws -> ImportTable { ImportTable(try text("docs/internals/architecture.md")) }

    @Test(.proves(.architecture, "Targets import only what the table in the architecture page allows"))
    func testThatEveryImportIsInTheTable() throws {
        let table = try table()
        #expect(table.rows.count >= 14)
        for source in try sources(in: "Sources") {
            for violation in Rules.importViolations(in: source.target, text: source.text, table: table) {
                Issue.record("\(source.path):\(violation.line): \(violation.message)")
            }
        }
    }

    @Test(
        .proves(.architecture, "Targets import only what the table in the architecture page allows"),
        .proves(.testsAndPages, "Manual, architecture, decisions, changes"))
    func testThatTheTableAndTheManifestSayTheSame() throws {
        let folders = Set(try Directory(opening: Project.root).entries("Sources").map(\.name))
        let violations = Rules.manifestViolations(
            table: try table(), manifest: Manifest(try text("Package.swift")), folders: folders)
        for violation in violations { Issue.record("\(violation)") }
    }

    @Test(.proves(.architecture, "Targets import only what the table in the architecture page allows"))
    func testThatNoAdapterMayImportAnother() throws {
        let table = try table()
        for adapter in Rules.adapters {
            let others = (table.rows[adapter] ?? []).intersection(Rules.adapters)
            #expect(others.isEmpty, "\(adapter) may import \(others)")
        }
    }

    @Test(
        .proves(
            .architecture,
            "Every shared declaration is documented, no file has more than 400 lines, and no code can end the daemon or leave work behind"
        ))
    func testThatEverySharedDeclarationIsDocumented() throws {
        for source in try sources(in: "Sources") {
            for line in Rules.undocumented(in: source.text) {
                Issue.record("\(source.path):\(line): a package declaration without a doc comment")
            }
        }
    }

    @Test(
        .proves(
            .architecture,
            "Every shared declaration is documented, no file has more than 400 lines, and no code can end the daemon or leave work behind"
        ))
    func testThatNoFileIsTooLong() throws {
        for source in try sources(in: "Sources") + sources(in: "Tests") {
            let count = Rules.length(of: source.text)
            #expect(count <= Rules.longestFile, "\(source.path): \(count) lines")
        }
    }

    @Test(
        .proves(
            .architecture,
            "Every shared declaration is documented, no file has more than 400 lines, and no code can end the daemon or leave work behind"
        ))
    func testThatNothingEndsTheDaemonOrLeavesWorkBehind() throws {
        let tests = try sources(in: "Tests").filter { $0.target != "ArchitectureTests" }
        for source in try sources(in: "Sources") + tests {
            for (line, word) in Rules.forbidden(in: source.text) { Issue.record("\(source.path):\(line): \(word)") }
        }
    }

    @Test(.proves(.intake, "Rows are read in one checked way: an invalid value is an error that names its column"))
    func testThatRowsAreReadInOneCheckedWay() throws {
        let others = try sources(in: "Sources/Storage").filter { source in
            !Rules.rowReaders.contains { source.path.hasSuffix("/" + $0) }
        }
        #expect(others.count > 50)
        for source in others {
            for (line, word) in Rules.readsRows(in: source.text) {
                Issue.record(
                    "\(source.path):\(line): \(word): rows are read by StoredRow, which throws where GRDB traps")
            }
        }
    }

    @Test(.proves(.intake, "No number from outside ends the process"))
    func testThatNumbersAreConvertedWithoutTraps() throws {
        for source in try sources(in: "Sources") {
            for (line, word) in Rules.traps(in: source.text) { Issue.record("\(source.path):\(line): \(word)") }
        }
    }

    @Test(
        .proves(
            .programs,
            "The start describes no object and names no command by reflection, and compiles only the templates of the page that is asked for"
        ))
    func testThatEveryServiceDescribesItself() throws {
        for source in try sources(in: "Sources") {
            for line in Rules.undescribedServices(in: source.text) {
                Issue.record("\(source.path):\(line): a Service that is not CustomStringConvertible")
            }
        }
    }

    @Test(
        .proves(
            .programs,
            "The start describes no object and names no command by reflection, and compiles only the templates of the page that is asked for"
        ))
    func testThatEveryCommandHasAWrittenName() throws {
        let commands = try sources(in: "Sources/martlet").filter { $0.text.contains("ParsableCommand {") }
        #expect(commands.count > 10)
        for source in commands {
            for line in Rules.unnamedCommands(in: source.text) {
                Issue.record("\(source.path):\(line): a command without a commandName")
            }
        }
    }

    @Test(.proves(.badInput, "Signatures, tokens and codes are compared by one function, in constant time (W3)"))
    func testW3ThatCodesAreComparedByOneFunctionOnly() throws {
        let all = try sources(in: "Sources")
        let comparing = all.filter { $0.text.contains("func areEqual(") }
        #expect(comparing.map(\.path) == ["Sources/Basics/Text/ConstantTime.swift"])
        for source in all {
            for line in Rules.comparedOtherwise(in: source.text) {
                Issue.record("\(source.path):\(line): a code that is not compared by ConstantTime.areEqual")
            }
        }
    }

    /// Archives are written and never unpacked, so no entry can lead out of its directory.
    @Test(.threat("P5")) func testP5ThatNoArchiveIsUnpacked() throws {
        for source in try sources(in: "Sources") where source.text.contains("archive_read") {
            Issue.record("\(source.path): an archive is read")
        }
    }

    /// What a job left is read by `martlet-reader` alone; see docs/internals/decisions/0040-reports-are-read-by-a-process-of-their-own.md.
    @Test(.threat("P1")) func testP1ThatTheDaemonParsesNoReport() throws {
        let parsers = [
            "ReportReader.read(", "ReadingSession(", "ConsoleReading(", "FoundationXML", "JSONSerialization",
        ]
        for source in try sources(in: "Sources") where !["Reports", "martlet-reader"].contains(source.target) {
            for parser in parsers where source.text.contains(parser) { Issue.record("\(source.path): \(parser)") }
        }
    }

    /// The supervisor holds the secrets of its job, and no command that runs in the job. It consists of nothing but the listed targets.
    @Test func testThatTheSupervisorContainsNoCommandOfAJob() throws {
        let parts = Rules.closure(of: "martlet-supervisor", in: Manifest(try text("Package.swift")))
        #expect(parts == ["martlet-supervisor", "JobProtocol", "Redaction", "Processes", "Encodings", "CLinux"])
        for part in parts {
            for source in try sources(in: "Sources/" + part) {
                for (line, word) in Rules.jobCommands(in: source.text) {
                    Issue.record("\(source.path):\(line): \(word)")
                }
            }
        }
        let tools = try sources(in: "Sources/martlet-tools").map(\.text).joined()
        for word in Rules.jobCommands { #expect(tools.contains(word), "\(word) is no word of martlet-tools") }
    }

    @Test func testThatSwiftNIOHasTheSecurityFixes() throws {
        // 2.100.0 is the first without CVE-2026-28970 and CVE-2026-28980.
        let version = try #require(Manifest(try text("Package.swift")).packages["swift-nio"])
        let numbers = version.split(separator: ".").compactMap { Int($0) }
        #expect(numbers.count == 3 && (numbers[0], numbers[1]) >= (2, 100), "swift-nio from \(version)")
    }
}
