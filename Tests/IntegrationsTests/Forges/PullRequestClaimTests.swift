import Model
import Storage
import TestSupport
import Testing

@testable import Forges
@testable import Integrations

/// The fields of a pull request's event that are read.
@Suite struct PullRequestClaimTests {
    private static let head = String(repeating: "ab", count: 20)

    private static func body(_ forge: Forge, state: String = "open", number: String = "12") -> (
        body: String, word: String
    ) {
        switch forge {
        case .gitlab:
            (
                #"{"object_kind":"merge_request","object_attributes":{"action":"open","iid":\#(number),"target_branch":"main","#
                    + #""source_branch":"topic","state":"\#(state == "open" ? "opened" : state)","#
                    + #""last_commit":{"id":"\#(head)"},"updated_at":"2026-03-01 12:00:00 UTC"}}"#, "Merge Request Hook"
            )
        case .bitbucketServer:
            (
                #"{"pullRequest":{"id":\#(number),"state":"\#(state.uppercased())","updatedDate":1772366400000,"#
                    + #""fromRef":{"id":"refs/heads/topic","latestCommit":"\#(head)"},"#
                    + #""toRef":{"id":"refs/heads/main","displayId":"main"}}}"#, "pr:opened"
            )
        case .bitbucket:
            (
                #"{"pullrequest":{"id":\#(number),"state":"\#(state.uppercased())","updated_on":"2026-03-01T13:00:00.000+01:00","#
                    + #""source":{"branch":{"name":"topic"},"commit":{"hash":"abababababab"},"repository":{"full_name":"acme/kit"}},"#
                    + #""destination":{"branch":{"name":"main"},"repository":{"full_name":"acme/kit"}}}}"#,
                "pullrequest:created"
            )
        case .gogs:
            (
                #"{"action":"opened","number":\#(number),"pull_request":{"state":"\#(state)","head_branch":"topic","#
                    + #""base_branch":"main"}}"#, "pull_request"
            )
        default:
            (
                #"{"action":"opened","number":\#(number),"pull_request":{"state":"\#(state)","updated_at":"2026-03-01T12:00:00Z","#
                    + #""head":{"sha":"\#(head)","ref":"topic"},"base":{"ref":"main"}}}"#, "pull_request"
            )
        }
    }

    @Test(
        .proves(
            .intake, "Pull requests: what an event tells of them is a claim, by each forge's form, in the forge's order"
        ),
        arguments: [
            (Forge.github, "refs/pull/12/head"), (.gitea, "refs/pull/12/head"), (.forgejo, "refs/pull/12/head"),
            (.gogs, "refs/pull/12/head"), (.gitlab, "refs/merge-requests/12/head"),
            (.bitbucketServer, "refs/pull-requests/12/from"), (.bitbucket, "refs/heads/topic"),
        ])
    func testThatItSaysWhichAndWhereItsHeadIs(_ forge: Forge, _ place: String) throws {
        // given
        let (body, word) = Self.body(forge)

        // when
        let pull = try #require(try ForgeSample.read(forge, body, event: word).pull)

        // then
        #expect(pull.number == 12 && pull.base == RefName(branch: "main") && pull.isOpen)
        #expect(pull.place == RefName(place) && pull.ref == RefName("refs/pull/12/head"))
        #expect(pull.head?.description == (forge == .gogs || forge == .bitbucket ? nil : Self.head))
        #expect(pull.toldAt?.description == (forge == .gogs ? nil : "2026-03-01T12:00:00.000Z"))
        // Its present state counts, not the word of the event
        let (closed, sameWord) = Self.body(forge, state: forge == .bitbucket ? "declined" : "closed")
        #expect(try ForgeSample.read(forge, closed, event: sameWord).pull?.isOpen == false)
    }

    @Test(
        .proves(
            .intake, "Pull requests: what an event tells of them is a claim, by each forge's form, in the forge's order"
        ), arguments: ["0", "-1", "1.5", "1e3", "99999999999999999999", "\"12\"", "null", "{}", "[12]"])
    func testThatWhatIsNoNumberOnlyAsksForAScan(_ number: String) throws {
        for forge in ForgeSample.hosted {
            let (body, word) = Self.body(forge, number: number)
            let event = try ForgeSample.read(forge, body, event: word)
            #expect(event.pull == nil && event.asksForScan && event.kind == .pullRequest(.opened), "\(forge)")
        }
    }

    @Test(
        .proves(
            .intake, "Pull requests: what an event tells of them is a claim, by each forge's form, in the forge's order"
        ))
    func testThatAForkOnBitbucketCloudIsIgnoredAndSaysWhy() throws {
        let (body, word) = Self.body(.bitbucket)
        let fork = body.replacing(
            #""commit":{"hash":"abababababab"},"repository":{"full_name":"acme/kit"}"#,
            with: #""commit":{"hash":"abababababab"},"repository":{"full_name":"evil/kit"}"#)
        let event = try ForgeSample.read(.bitbucket, fork, event: word)
        #expect(event.pull == nil && !event.asksForScan)
        #expect(event.reason?.contains("Bitbucket Cloud has its commits only in the fork") == true)
    }

    @Test(arguments: [
        ("2026-03-01T12:00:00Z", "2026-03-01T12:00:00.000Z"), ("2026-03-01T12:00:00.25Z", "2026-03-01T12:00:00.250Z"),
        ("2026-03-01T12:00:00.123456+00:00", "2026-03-01T12:00:00.123Z"),
        ("2024-02-29T23:30:00-01:30", "2024-03-01T01:00:00.000Z"),
        ("2026-03-01 12:00:00 UTC", "2026-03-01T12:00:00.000Z"),
        ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z"), ("2000-12-31T23:59:59Z", "2000-12-31T23:59:59.000Z"),
    ])
    func testThatTimesAreReadAsForgesWriteThem(_ text: String, _ expected: String) {
        #expect(ForgeTime.read(.string(text))?.description == expected)
    }

    @Test(arguments: [
        "", "yesterday", "2026-13-01T12:00:00Z", "2026-03-01T12:00", "2026-03-01T12:00:00+", "20260301T120000Z",
    ])
    func testThatOtherTextsAreNone(_ text: String) throws {
        #expect(ForgeTime.read(.string(text)) == nil)
        #expect(ForgeTime.read(try ForgeJSONReader.read(Array("-1".utf8))) == nil && ForgeTime.read(.null) == nil)
    }
}
