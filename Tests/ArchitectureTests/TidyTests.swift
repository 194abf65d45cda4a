import Basics
import TestSupport
import Testing

/// Holds sources, tests and pages to the rules of form and language.
@Suite struct TidyTests {
    private let architecture = ArchitectureTests()

    /// Sources and tests, without the files that list the words, and without what other programs wrote.
    private func sources() throws -> [ArchitectureTests.Source] {
        try (architecture.sources(in: "Sources") + architecture.sources(in: "Tests")).filter {
            !$0.path.hasPrefix("Tests/ArchitectureTests/Tidy") && !$0.path.contains("/Samples/")
        }
    }

    /// The pages whose sentences are checked. Decision records are kept as they were written.
    private func finished() throws -> [(path: String, text: String)] {
        let root = try Directory(opening: Project.root)
        var found: [(path: String, text: String)] = []
        try root.walk("docs", limit: 10_000) { path, status in
            let name = String(decoding: path, as: UTF8.self)
            guard status.kind == .file, name.hasSuffix(".md"), !name.contains("/decisions/"),
                !TidyWords.unfinishedPages.contains(where: { name.hasSuffix($0) })
            else { return }
            found.append((name, String(decoding: try root.read(path, limit: 4 << 20), as: UTF8.self)))
        }
        return found
    }

    private func report(_ path: String, _ findings: [Tidy.Finding]) {
        for (line, word) in findings { Issue.record("\(path):\(line): \(word)") }
    }

    @Test func testThatNoLineIsTooLong() throws {
        let sources = try sources()
        #expect(sources.count > 1_000)
        for source in sources {
            for line in Tidy.longLines(in: source.text) {
                Issue.record("\(source.path):\(line): more than \(Tidy.longestLine) columns")
            }
        }
    }

    @Test func testThatNoFunctionIsTooLong() throws {
        var exceptions = Set(Tidy.longFunctions.keys)
        for source in try sources() {
            for (line, name) in Tidy.longFunctions(in: source.text)
            where exceptions.remove("\(source.path) \(name)") == nil {
                Issue.record("\(source.path):\(line): \(name) has more than \(Tidy.longestFunction) lines")
            }
        }
        #expect(exceptions.isEmpty, "these need no exception any more")
    }

    @Test func testThatNilIsCalledNil() throws {
        for source in try sources() {
            for line in Tidy.nothingForNil(in: source.text) {
                Issue.record("\(source.path):\(line): `nil` is called nothing")
            }
        }
    }

    @Test func testThatNoSentenceIsTooLong() throws {
        let pages = try finished()
        #expect(pages.count > 3)
        for page in pages {
            for (line, words) in Tidy.longSentences(in: page.text) {
                Issue.record("\(page.path):\(line): more than \(Tidy.longestSentence) words: \(words)")
            }
        }
    }

    @Test func testThatWordsAreAmerican() throws {
        for source in try sources() {
            let quoted = TidyWords.quoted.first { source.path.hasSuffix("/" + $0.key) }?.value ?? []
            report(
                source.path,
                TidyWords.british(in: source.text).filter { finding in
                    !quoted.contains { finding.word.hasPrefix($0 + ":") }
                })
        }
        for page in try finished() { report(page.path, TidyWords.british(in: page.text)) }
    }

    @Test func testThatNoWordIsArchaic() throws {
        for source in try sources() { report(source.path, TidyWords.archaic(in: source.text, isPage: false)) }
        for page in try finished() { report(page.path, TidyWords.archaic(in: page.text, isPage: true)) }
    }

    @Test func testThatNoDeclarationHasAReplacedName() throws {
        for source in try sources() { report(source.path, TidyWords.replaced(in: source.text)) }
    }

    @Test func testThatTheProjectSpeaksOfItselfAlone() throws {
        let root = try Directory(opening: Project.root)
        for folder in ["Sources", "Tests"] {
            try root.walk(folder, limit: 100_000) { path, status in
                let name = String(decoding: path, as: UTF8.self)
                guard status.kind == .file, !name.contains("/ArchitectureTests/Tidy") else { return }
                let text = String(decoding: try root.read(path, limit: 16 << 20), as: UTF8.self)
                report(name, Tidy.issueNumbers(in: text))
            }
        }
    }
}
