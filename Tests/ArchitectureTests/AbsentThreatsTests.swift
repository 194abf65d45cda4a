import Testing

/// Threats that cannot occur because the code that they need does not exist.
@Suite struct AbsentThreatsTests {
    private let architecture = ArchitectureTests()

    /// Returns the places at which a text has one of the words, in any case.
    private static func mentions(_ words: [String], in sources: [ArchitectureTests.Source]) -> [String] {
        sources.flatMap { source in
            Rules.lines(of: source.text).compactMap { number, line in
                let code = line.trimmed.hasPrefix("//") ? "" : line.lowercased()
                return words.first { code.contains($0) }.map { "\(source.path):\(number): \($0)" }
            }
        }
    }

    /// There is no session: no cookie is set, and none is read.
    @Test func testA5ThatNoSourceKnowsOfCookies() throws {
        let sources = try architecture.sources(in: "Sources").filter {
            ["Web", "Integrations", "martlet"].contains($0.target)
        }
        #expect(sources.count > 100)
        #expect(Self.mentions(["cookie"], in: sources) == [])
        #expect(!Self.mentions(["authorization"], in: sources).isEmpty, "what is looked for would be found")
    }

    /// No JSON Web Token is read: neither our code nor a package mentions any.
    @Test func testA6ThatNoCodeForJSONWebTokensIsLinked() throws {
        let resolved = try architecture.text("Package.resolved")
        let pins = resolved.matches(of: /"identity" : "([^"]+)"/).map { String($0.1) }
        #expect(pins.count > 20 && pins.contains("hummingbird"))
        #expect(pins.filter { $0.contains("jwt") || $0.contains("jose") || $0.contains("oauth") } == [])
        let sources = try architecture.sources(in: "Sources")
        #expect(Self.mentions(["jwt", "hs256", "rs256", "es256", "\"kid\"", "jwks"], in: sources) == [])
    }

    /// HTTP/2 is not linked: no target depends on Hummingbird's product for it.
    @Test func testA18ThatNoTargetOfOursSpeaksHTTP2() throws {
        let manifest = try architecture.text("Package.swift")
        #expect(manifest.contains("name: \"Hummingbird\""))
        #expect(!manifest.contains("HummingbirdHTTP2") && !manifest.contains("NIOHTTP2"))
        #expect(
            Self.mentions(["niohttp2", "hummingbirdhttp2", "alt-svc"], in: try architecture.sources(in: "Sources"))
                == [])
    }
}
