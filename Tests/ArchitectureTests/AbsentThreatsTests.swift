import Testing

/// Threats that cannot occur because the code that they need does not exist, or is in one place.
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

    /// Cookies are set and read in one folder alone; the headers of every answer say that pages depend on them.
    @Test func testA5ThatOnlySigningInKnowsOfCookies() throws {
        let sources = try architecture.sources(in: "Sources").filter {
            ["Web", "Integrations", "martlet"].contains($0.target)
        }
        #expect(sources.count > 100)
        let places = Set(Self.mentions(["cookie"], in: sources).map { String($0.prefix { $0 != ":" }) })
        #expect(places.filter { !$0.contains("Web/SignIn/") } == ["Sources/Web/Server/SecurityHeaders.swift"])
        #expect(!Self.mentions(["authorization"], in: sources).isEmpty, "what is looked for would be found")
    }

    /// JSON Web Tokens are read of OpenID Connect providers alone, by one package, and never with a symmetric key.
    @Test func testA6ThatOnlySigningInReadsJSONWebTokens() throws {
        let resolved = try architecture.text("Package.resolved")
        let pins = resolved.matches(of: /"identity" : "([^"]+)"/).map { String($0.1) }
        #expect(pins.count > 20 && pins.contains("hummingbird"))
        #expect(pins.filter { $0.contains("jwt") || $0.contains("jose") || $0.contains("oauth") } == ["jwt-kit"])
        let sources = try architecture.sources(in: "Sources")
        #expect(Self.mentions(["hs256", "hs384", "hs512", "add(hmac"], in: sources) == [])
        let others = sources.filter { $0.target != "SignIn" }
        #expect(Self.mentions(["jwt", "rs256", "es256", "\"kid\"", "jwks"], in: others) == [])
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
