import Foundation
import Model
import TestSupport
import Testing

@Suite struct SemanticVersionTests {
    /// The cases that semver.org links to, with its order of precedence.
    private struct Cases: Decodable {
        struct Precedence: Decodable { let ascending: [[String]] }

        let valid: [String]
        let invalid: [String]
        let precedence: Precedence

        private enum CodingKeys: String, CodingKey {
            case valid, invalid
            case precedence = "precedence_spec"
        }
    }

    private func cases() throws -> Cases {
        try JSONDecoder().decode(Cases.self, from: Data(Corpus.file("semver/semver-2.0.0.json").bytes()))
    }

    @Test(
        .proves(
            .releases,
            "Versions: SemVer 2.0.0 in full: every case of the public collection of valid, invalid and ordered versions; `latest`, `latest-pre`, `~1.4`, `^1`"
        ), .corpus)
    func testThatItAcceptsEveryValidVersionAndPrintsItAgain() throws {
        let valid = try cases().valid
        #expect(valid.count == 31)
        #expect(valid.contains("99999999999999999999999.999999999999999999.99999999999999999"))
        for text in valid { #expect(SemanticVersion(text)?.description == text, "\(text)") }
    }

    @Test(
        .proves(
            .releases,
            "Versions: SemVer 2.0.0 in full: every case of the public collection of valid, invalid and ordered versions; `latest`, `latest-pre`, `~1.4`, `^1`"
        ), .corpus)
    func testThatItRefusesEveryInvalidVersion() throws {
        let invalid = try cases().invalid
        #expect(invalid.count == 40)
        for text in invalid { #expect(SemanticVersion(text) == nil, "\(text)") }
    }

    @Test(
        .proves(
            .releases,
            "Versions: SemVer 2.0.0 in full: every case of the public collection of valid, invalid and ordered versions; `latest`, `latest-pre`, `~1.4`, `^1`"
        ), .corpus)
    func testThatEveryOrderedVersionPrecedesTheNext() throws {
        let ordered = try cases().precedence.ascending
        #expect(ordered.map(\.count) == [4, 8])
        for texts in ordered {
            let versions = try texts.map { try #require(SemanticVersion($0)) }
            for (index, left) in versions.enumerated() {
                for (other, right) in versions.enumerated() {
                    #expect(left.precedes(right) == (index < other), "\(left), \(right)")
                }
            }
        }
    }

    /// The versions have equal precedence, but `latest` must be the one that users expect.
    @Test func testThatBuildMetadataIsOrderedByItsNumbers() throws {
        let ordered = ["1.0.0", "1.0.0+1", "1.0.0+01", "1.0.0+9", "1.0.0+10", "1.0.0+10.a", "1.0.0+x"]
            .compactMap { SemanticVersion($0) }
        #expect(ordered.count == 7)
        #expect(ordered.reversed().sorted() == ordered)
        #expect(zip(ordered, ordered.dropFirst()).allSatisfy { !$0.precedes($1) && !$1.precedes($0) })
        #expect(VersionRange.latest.highest(of: ordered.dropLast(2))?.description == "1.0.0+10")
    }

    @Test(
        .proves(
            .releases,
            "Versions: SemVer 2.0.0 in full: every case of the public collection of valid, invalid and ordered versions; `latest`, `latest-pre`, `~1.4`, `^1`"
        ))
    func testThatNumbersOfAnyLengthAreOrdered() throws {
        let ordered = [
            "1.2.9223372036854775807", "1.2.9223372036854775808", "1.2.10000000000000000000", "1.10.0",
            "99999999999999999999999.0.0",
        ]
        .compactMap { SemanticVersion($0) }
        #expect(ordered.count == 5)
        #expect(ordered.reversed().sorted() == ordered)
        #expect(zip(ordered, ordered.dropFirst()).allSatisfy { $0.precedes($1) && !$1.precedes($0) })
    }

    @Test(arguments: [
        ("0", "1"), ("9", "10"), ("10", "11"), ("199", "200"), ("99999999999999999999", "100000000000000000000"),
    ])
    func testThatTheNextNumberIsOneMore(text: String, next: String) {
        #expect(VersionNumber(text)?.next.description == next)
    }

    @Test(arguments: ["", "01", "-1", "+1", " 1", "1a", "１"])
    func testThatWhatIsNoNumberIsNone(text: String) { #expect(VersionNumber(text) == nil) }

    @Test(arguments: [
        "", "1", "1.2", "1.2.3.4", "v1.2.3", "01.2.3", "1.02.3", "1.2.03", "1.2.3-", "1.2.3+", "1.2.3-01", "1.2.3-a..b",
        "1.2.3-ä", "1.2.3 ", " 1.2.3", "+1.2.3", "-1.2.3", "1.2.3\n", "1.2.3/..", "１.2.3", "1.2.3-a+b+c",
    ])
    func testThatNothingButTheGrammarPasses(_ text: String) { #expect(SemanticVersion(text) == nil) }

    @Test(.proves(.model, "Terms as values: names, refs, commits, versions, times, sizes"))
    func testThatPrecedenceIsSection11s() {
        let ordered = [
            "0.9.9", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11",
            "1.0.0-beta.99999999999999999999", "1.0.0-rc.1", "1.0.0", "1.0.1", "1.9.0", "1.10.0", "2.0.0",
        ].compactMap { SemanticVersion($0) }
        #expect(ordered.count == 14)
        for (index, left) in ordered.enumerated() {
            for (other, right) in ordered.enumerated() { #expect(left.precedes(right) == (index < other)) }
        }
        #expect(ordered.reversed().sorted() == ordered)
    }

    @Test func testThatBuildMetadataDoesNotCount() throws {
        let one = try #require(SemanticVersion("1.0.0+a"))
        let two = try #require(SemanticVersion("1.0.0+b"))
        #expect(!one.precedes(two) && !two.precedes(one))
        #expect(one != two)
        #expect([two, one].sorted() == [one, two])
    }

    @Test func testThatALongTextIsRefused() {
        let head = "1.0.0-"
        let longest = head + String(repeating: "a", count: SemanticVersion.maximumLength - head.count)
        #expect(SemanticVersion(longest) != nil)
        #expect(SemanticVersion(longest + "a") == nil)
    }

    @Test(.proves(.versions, "`version: tag`: 1.4.0 or v1.4.0"))
    func testThatATagMayHaveAV() {
        #expect(SemanticVersion(tag: "v1.4.0") == SemanticVersion(1, 4, 0))
        #expect(SemanticVersion(tag: "1.4.0") == SemanticVersion(1, 4, 0))
        #expect(SemanticVersion(tag: "vv1.4.0") == nil)
        #expect(SemanticVersion(tag: "release-1.4.0") == nil)
    }
}

@Suite struct VersionRangeTests {
    static let versions = [
        "0.1.2", "0.1.3", "0.2.0", "1.3.9", "1.4.0", "1.4.2", "1.4.10", "1.5.0-beta", "1.5.0", "2.0.0", "2.1.0-rc.1",
        "99999999999999999999.1.7-rc.1", "99999999999999999999.1.7", "99999999999999999999.2.0",
        "100000000000000000000.0.0-rc.1",
    ].compactMap { SemanticVersion($0) }

    @Test(
        .proves(
            .releases,
            "Versions: SemVer 2.0.0 in full: every case of the public collection of valid, invalid and ordered versions; `latest`, `latest-pre`, `~1.4`, `^1`"
        ),
        arguments: [
            ("latest", "99999999999999999999.2.0"), ("latest-pre", "100000000000000000000.0.0-rc.1"),
            ("1.4.2", "1.4.2"),
            ("2.1.0-rc.1", "2.1.0-rc.1"),
            ("~1.4", "1.4.10"), ("~1.4.2", "1.4.10"), ("~1", "1.5.0"), ("^1.4", "1.5.0"), ("^1", "1.5.0"),
            ("^0.1.2", "0.1.3"),
            ("^0.1", "0.1.3"), ("^0", "0.2.0"), ("~0.1", "0.1.3"), ("^2.0.0", "2.0.0"), ("^1.4.10", "1.5.0"),
            ("~99999999999999999999.1", "99999999999999999999.1.7"),
            ("^99999999999999999999", "99999999999999999999.2.0"),
        ])
    func testThatItPicksTheHighestThatFits(range: String, expected: String) {
        #expect(VersionRange(range)?.highest(of: Self.versions)?.description == expected)
    }

    @Test(arguments: ["1.4.3", "~1.6", "^3", "~0.3", "^0.0.1"])
    func testThatItFindsNothingWhereNothingFits(_ range: String) throws {
        #expect(try #require(VersionRange(range)).highest(of: Self.versions) == nil)
    }

    @Test(arguments: [
        "", "~", "^", "~1.", "~.1", "~1.2.3.4", "~01", "~1.02", "~-1", "~+1", "~ 1", "~v1", "~1.x", "1.4", "Latest",
        "*",
        "~１", "../1", "~1.4.2-rc.1", ">=1", "1.x",
    ])
    func testThatItRefusesWhatIsNoRange(_ text: String) { #expect(VersionRange(text) == nil) }
}
