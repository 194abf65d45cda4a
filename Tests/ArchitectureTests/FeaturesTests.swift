import Basics
import Foundation
import TestSupport
import Testing

/// Holds docs/features.md to the project: a row cannot name a file or a test that is not there.
@Suite struct FeaturesTests {
    @Test func testThatEveryRowNamesWhatIsThere() throws {
        // given
        let text = try WholeFile.read(Project.root + "/docs/features.md", limit: 4 << 20)
        let table = FeatureTable(String(decoding: text, as: UTF8.self))
        let tests = try testNames()
        let showcase = try WholeFile.read(Project.root + "/Tests/Showcase/main-job", limit: 4 << 20)
        let claims = Set(String(decoding: showcase, as: UTF8.self).matches(of: /claim_(\w+)\(\)/).map { String($0.1) })
        // when, then
        #expect(table.rows.count > 100)
        #expect(table.broken.isEmpty)
        for row in table.rows {
            let violations = FeatureTable.violations(
                row, exists: { FileManager.default.fileExists(atPath: Project.root + "/" + $0) }, tests: tests,
                claims: claims)
            for violation in violations { Issue.record("docs/features.md:\(row.line): \(violation)") }
        }
    }

    @Test func testThatARowThatIsNotTrueIsFound() throws {
        // given
        let table = FeatureTable(
            """
            | what | where | proof | state |
            |---|---|---|---|
            | a | `A.swift` | `ATests.GivenB.testThatA` | works |
            | b | `B.swift` | `ATests.testThatB`, `BTests.testThatA` | works |
            | c | `A.swift` | – | works |
            | d | – | – | not yet: later |
            | e | – | – | perhaps |
            | f | – | works |
            | g | – | showcase: c | works |
            | h | – | showcase: d | works |
            """)
        // when
        let violations = table.rows.map {
            FeatureTable.violations(
                $0, exists: { $0 == "A.swift" }, tests: ["testThatA": [["ATests", "GivenB"], ["CTests"]]], claims: ["c"]
            )
        }
        // then
        #expect(
            violations == [
                [], ["B.swift is not there", "there is no test ATests.testThatB", "there is no test BTests.testThatA"],
                ["it is said to work, and nothing proves it"], [], ["the state is none: perhaps"], [],
                ["the showcase has no claim d"],
            ])
        #expect(table.broken == [8])
    }

    /// Test functions by name, each with the types of the file that it is in.
    private func testNames() throws -> [String: [Set<String>]] {
        let root = try Directory(opening: Project.root)
        var names: [String: [Set<String>]] = [:]
        try root.walk("Tests", limit: 100_000) { path, status in
            guard status.kind == .file, String(decoding: path, as: UTF8.self).hasSuffix(".swift") else { return }
            let text = String(decoding: try root.read(path, limit: 4 << 20), as: UTF8.self)
            let words = text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
            let pairs = zip(words, words.dropFirst())
            let types = Set(
                pairs.filter { ["struct", "class", "enum", "extension"].contains($0.0) }.map { String($0.1) })
            for (word, name) in pairs where word == "func" && name.hasPrefix("testThat") {
                names[String(name), default: []].append(types)
            }
        }
        return names
    }
}
