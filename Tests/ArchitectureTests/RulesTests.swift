import TestSupport
import Testing

/// Shows each rule a text that breaks it, because a rule that cannot fail is worthless.
@Suite struct RulesTests {
    private let table = ImportTable(
        """
        | target | one sentence | may import (ours) | outside |
        |---|---|---|---|
        | `Model` | Nouns. | – | – |
        | `Storage` | Rows. | Model | GRDB |
        | `Web` | Pages. | all above | Hummingbird |
        """)

    @Test func testThatTheTableIsRead() {
        #expect(
            table.rows == ["Model": [], "Storage": ["Model", "GRDB"], "Web": ["Model", "Storage", "Hummingbird"]])
    }

    @Test(.proves(.architecture, "Each architecture rule is shown a text that breaks it"))
    func testThatAnImportOutsideTheTableIsFound() {
        let text =
            "import Foundation\npackage import Model\n@preconcurrency import GRDB\n  import struct Web.Page\n// import Web"
        #expect(Rules.importViolations(in: "Storage", text: text, table: table).map(\.line) == [4])
        #expect(Rules.importViolations(in: "Model", text: "import Foundation", table: table).map(\.line) == [1])
        #expect(Rules.importViolations(in: "Model", text: "import FoundationEssentials", table: table).count == 1)
        #expect(Rules.importViolations(in: "Unknown", text: "", table: table).count == 1)
        let script = "let script = \"\"\"\n    import re\n    \"\"\"\nimport Foundation\n"
        #expect(Rules.importViolations(in: "Model", text: script, table: table).map(\.line) == [4])
    }

    @Test func testThatAProductsCarriedModulesAreAllowedWithItAlone() {
        #expect(Rules.importViolations(in: "Web", text: "import HTTPTypes", table: table).isEmpty)
        #expect(Rules.importViolations(in: "Storage", text: "import HTTPTypes", table: table).count == 1)
    }

    @Test(.proves(.architecture, "Each architecture rule is shown a text that breaks it"))
    func testThatADifferenceBetweenTableAndManifestIsFound() {
        let manifest = Manifest(
            """
            static let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
            .package(url: "https://acme.example/swift-nio", exact: "2.99.1"),
            library("Model"),
            library("Storage", ["Model", "Basics", .grdb]),
            .executableTarget(
                name: "martlet", dependencies: ["Model"]),
            """)
        #expect(manifest.packages == ["swift-nio": "2.99.1"])
        #expect(manifest.targets == ["Model": [], "Storage": ["Model", "Basics", "GRDB"], "martlet": ["Model"]])
        #expect(
            Rules.manifestViolations(
                table: table, manifest: manifest, folders: ["Model", "Storage", "martlet", "CLinux"]) == [
                    "Package.swift gives Storage Basics, which the table does not let it import",
                    "the table's Web is no target",
                    "martlet has no row in docs/internals/architecture.md",
                ])
    }

    @Test(.proves(.architecture, "Each architecture rule is shown a text that breaks it"))
    func testThatACommandOfAJobIsFound() {
        let text = "case \"--listen\":\ncase \"--analyze-c\":\n// see PackageManifest"
        #expect(Rules.jobCommands(in: text).map(\.line) == [2, 3])
        let manifest = Manifest(
            """
            library("Other"),
            library("Helper", ["Other"]),
            .executableTarget(
                name: "martlet-supervisor", dependencies: ["Helper"]),
            """)
        #expect(
            Rules.closure(of: "martlet-supervisor", in: manifest) == ["martlet-supervisor", "Helper", "Other"])
    }

    @Test(.proves(.architecture, "Each architecture rule is shown a text that breaks it"))
    func testThatAMissingDocCommentIsFound() {
        let text = """
            package struct A {
                package let name: String
                package init(name: String) {}
                package init?(_ text: String) {}
                /// Said.
                @inline(never)
                package static func said() {}
                package mutating func unsaid() {}
                package static func < (left: A, right: A) -> Bool {}
                package init(
                    path: String
                ) throws(E) {}
            """
        #expect(Rules.undocumented(in: text) == [1, 4, 8, 10])
    }

    @Test func testThatACodeComparedOtherwiseIsFound() {
        let text = """
            ConstantTime.areEqual(Digest.hmacSHA256(key: a, message: b), given)
            let digest = Digest.hmacSHA256(key: a, message: b)
            ConstantTime.areEqual(digest, given)
            // Digest.hmacSHA256(key: a, message: b) == given
            Digest.hmacSHA256(key: a, message: b) == given
            let other = Digest.hmacSHA256(key: a, message: b)
            other == given
            let code = try body.authenticationCode(key: a)
            code == given
            let right = try body.authenticationCode(key: a)
            ConstantTime.areEqual(right, given)
            let sent = Digest.hmacSHA256(key: key, message: body)
            return Data(sent).base64EncodedString()
            """
        #expect(Rules.comparedOtherwise(in: text) == [5, 6, 8])
    }

    @Test func testThatARowReadByGRDBItselfIsFound() {
        let text = """
            let row = try Row.fetchOne(db, sql: "")
            static func token(_ row: Row) {}
            try Int64.fetchAll(db, sql: "")
            struct Player: FetchableRecord {}
            // a Row of GRDB
            static func token(_ row: StoredRow) throws {}
            let TestRow = try db.rows("")
            """
        #expect(Rules.readsRows(in: text).map(\.line) == [1, 2, 3, 4])
    }

    @Test func testThatAFormThatTrapsIsFound() {
        let text = """
            let a = Int((seconds * 10).rounded())
            let b = Int64(date.timeIntervalSince1970)
            let c = Dictionary(uniqueKeysWithValues: pairs)
            let d = bytes.baseAddress! + start
            f(list.first!, other)
            let e = Int(clamping: (seconds * 10).rounded())
            // uniqueKeysWithValues, list.first!
            let g = "no! never! Int(a.rounded())" != other
            if !isOpen, x != y { }
            """
        #expect(Rules.traps(in: text).map(\.line) == [1, 2, 3, 4, 5])
    }

    @Test func testThatAServiceWithoutADescriptionIsFound() {
        let text = """
            package struct A: Service {
            final class B: Sendable, Service {
            struct C: Service, CustomStringConvertible {
            // struct D: Service {
            struct E { let service: Service }
            struct F: ServiceSettings {
            extension G: ServiceLifecycle.Service {}
            struct H<S: Service>: Sendable {
            """
        #expect(Rules.undescribedServices(in: text) == [1, 2, 7])
    }

    @Test func testThatACommandWithoutAWrittenNameIsFound() {
        let text = """
            struct Show: AsyncParsableCommand {
                static let configuration = CommandConfiguration(abstract: "Shows.")
            }
            struct Cut: ParsableCommand {
                static let configuration = CommandConfiguration(
                    commandName: "cut",
                    abstract: "Cuts.")
            }
            struct Bare: ParsableCommand {
                func run() {}
            }
            """
        #expect(Rules.unnamedCommands(in: text) == [1, 9])
    }

    @Test func testThatTraitsAreNoLinesOfAFile() {
        let code = String(repeating: "    a()\n\n", count: 200)
        let test = """
            @Test(
                .enabled(if: true),
                .bug(
                    "a func that is not there"
                ),
                arguments: [1])
            func testThatA() {
            @Test(.enabled(if: true)) func testThatB() {

            """
        #expect(Rules.length(of: code) == 400)
        #expect(Rules.length(of: test + code) == 403)
        #expect(Rules.length(of: test) == 8)
    }

    @Test(.proves(.architecture, "Each architecture rule is shown a text that breaks it"))
    func testThatForbiddenWordsAreFound() {
        let text = "// try! in words\nlet a = try! b()\nfatalError(\"x\")\nTask.detached {}\ntry b()"
        #expect(Rules.forbidden(in: text).map(\.line) == [2, 3, 4])
    }
}
