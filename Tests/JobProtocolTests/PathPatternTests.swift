import JobProtocol
import Testing

@Suite struct PathPatternTests {
    @Test(arguments: [
        ("build/junit.xml", "build/junit.xml", true), ("build/*.xml", "build/a.xml", true),
        ("build/*.xml", "build/b/a.xml", false), ("**/*.xml", "a.xml", true), ("**/*.xml", "a/b/c.xml", true),
        ("products/**", "products/a/b", true), ("products/**", "products", false), ("products/", "products/x", true),
        ("a/**/b", "a/b", true), ("a/**/b", "a/x/y/b", true), ("a/**/b", "a/x/y/c", false), ("?.log", "x.log", true),
        ("?.log", "xy.log", false), ("*a*b*", "xxaxxbxx", true), ("./a", "a", true), ("**", "x/y", true),
    ])
    func testThatItMatches(pattern: String, path: String, expected: Bool) throws {
        #expect(try #require(PathPattern(pattern)).matches(path.utf8) == expected)
    }

    @Test(arguments: ["", "/etc/passwd", "../x", "a/../../b", ".", "a\0b", String(repeating: "a", count: 1025)])
    func testThatItRefusesWhatLeadsOut(pattern: String) {
        #expect(PathPattern(pattern) == nil)
    }

    @Test func testThatHostilePatternsCostLittle() throws {
        let pattern = try #require(PathPattern(String(repeating: "*a", count: 500)))
        #expect(!pattern.matches(String(repeating: "a", count: 255).utf8))
    }

    @Test func testThatOnlyDirectoriesAreEnteredInWhichAMatchIsPossible() throws {
        let progress = PathProgress([try #require(PathPattern("build/x/*.xml"))])
        #expect(progress.entering(Array("build".utf8)).isPossible)
        #expect(!progress.entering(Array(".build".utf8)).isPossible)
        #expect(!progress.entering(Array("build".utf8)).entering(Array("y".utf8)).isPossible)
    }
}
