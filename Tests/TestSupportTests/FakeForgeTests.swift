import Foundation
import TestSupport
import Testing
import Transfer

/// Holds the fake to each forge's documentation, so that a test against the fake is meaningful.
@Suite struct FakeForgeTests {
    private static let commit = String(repeating: "a", count: 40)

    private func post(
        _ forge: FakeForge, _ fields: [String: String], path: String? = nil, token: String = "t0ken-Canary"
    ) throws -> TransferResponse {
        var all = ["description": "ok", "url": "https://ci.example/1", "target_url": "https://ci.example/1"]
        for key in ["context", "name", "key"] { all[key] = "martlet/kit" }
        all.merge(fields) { $1 }
        return forge.answer(
            "POST", forge.api + (path ?? Self.path(forge.kind)), headers: ["PRIVATE-TOKEN": token],
            authorization: "Bearer \(token)", body: Array(try JSONEncoder().encode(all)))
    }

    private static func path(_ kind: FakeForge.Kind) -> String {
        switch kind {
        case .github, .gitea, .forgejo: "/repos/acme/kit/statuses/\(commit)"
        case .gitlab: "/projects/acme%2Fkit/statuses/\(commit)"
        case .bitbucket: "/repositories/acme/kit/commit/\(commit)/statuses/build"
        case .bitbucketServer: "/projects/acme/repos/kit/commits/\(commit)/builds"
        }
    }

    private func forge(_ kind: FakeForge.Kind) -> FakeForge {
        let forge = FakeForge(kind)
        forge.add(commit: Self.commit)
        return forge
    }

    private static func good(_ kind: FakeForge.Kind) -> String {
        [.bitbucket, .bitbucketServer].contains(kind) ? "SUCCESSFUL" : "success"
    }

    private static func waiting(_ kind: FakeForge.Kind) -> String {
        [.bitbucket, .bitbucketServer].contains(kind) ? "INPROGRESS" : "pending"
    }

    @Test(arguments: FakeForge.Kind.allCases)
    func testThatItShowsTheNewestStatusOfEachContext(_ kind: FakeForge.Kind) throws {
        let forge = forge(kind)
        #expect(try post(forge, ["state": Self.waiting(kind)]).isSuccess)
        #expect(try post(forge, ["state": Self.good(kind)]).isSuccess)
        #expect(forge.current(Self.commit)["martlet/kit"]?.state == Self.good(kind))
        // Bitbucket overwrites a status; the others keep the earlier ones.
        #expect(forge.history.count == ([.bitbucket, .bitbucketServer].contains(kind) ? 1 : 2))
    }

    @Test(
        .proves(
            .intake,
            "A stateful fake forge with tests of its own; a real daemon reports to it over HTTP, through limits, lost answers, silence and kills"
        ), arguments: FakeForge.Kind.allCases)
    func testThatItRefusesAWrongTokenStateCommitAndRepository(_ kind: FakeForge.Kind) throws {
        let forge = forge(kind)
        let good = Self.good(kind)
        #expect(try post(forge, ["state": good], token: "other").status == 401)
        #expect(try [400, 422].contains(post(forge, ["state": "fine"]).status))
        let elsewhere = Self.path(kind).replacing("acme", with: "evil")
        #expect(try post(forge, ["state": good], path: elsewhere).status == 404)
        let unknown = Self.path(kind).replacing("aaaa", with: "bbbb")
        #expect(try [404, 422, 500].contains(post(forge, ["state": good], path: unknown).status))
        #expect(try post(forge, ["state": good], path: "/nothing").status == 404)
        #expect(forge.history.isEmpty)
    }

    @Test(
        .proves(
            .intake,
            "A stateful fake forge with tests of its own; a real daemon reports to it over HTTP, through limits, lost answers, silence and kills"
        ))
    func testThatGitHubTakesDescriptionsOf140CharactersAndNoMore() throws {
        let forge = forge(.github)
        let fits = String(repeating: "é", count: 140)
        #expect(try post(forge, ["state": "success", "description": fits]).status == 201)
        let answer = try post(forge, ["state": "success", "description": fits + "."])
        #expect(answer.status == 422)
        expectContains(String(decoding: answer.body, as: UTF8.self), "maximum is 140 characters")
    }

    @Test func testThatGitHubTakesAThousandOfOneContextWhateverItsCase() throws {
        let forge = forge(.github)
        for number in 1...1000 {
            let context = number.isMultiple(of: 2) ? "Martlet/Kit" : "martlet/kit"
            #expect(try post(forge, ["state": "pending", "context": context]).status == 201)
        }
        #expect(try post(forge, ["state": "pending"]).status == 422)
        #expect(try post(forge, ["state": "pending", "context": "other"]).status == 201)
    }

    @Test(
        .proves(
            .intake,
            "A stateful fake forge with tests of its own; a real daemon reports to it over HTTP, through limits, lost answers, silence and kills"
        ))
    func testThatGitLabOnlyGoesForwardUntilItIsFinal() throws {
        let forge = forge(.gitlab)
        func state(_ word: String) throws -> Int { try post(forge, ["state": word, "ref": "main"]).status }
        #expect(try state("pending") == 201)
        let again = try post(forge, ["state": "pending", "ref": "main"])
        #expect(again.status == 400)
        expectContains(
            String(decoding: again.body, as: UTF8.self), "Cannot transition status via :enqueue from :pending")
        #expect(try state("running") == 201)
        #expect(try state("pending") == 400)
        #expect(try state("running") == 400)
        #expect(try state("failed") == 201)
        // A status is final: the next one is another job of the same name, and so is an equal one.
        #expect(try state("failed") == 201)
        #expect(try state("pending") == 201)
        // Another ref is another pipeline.
        #expect(try post(forge, ["state": "pending", "ref": "other"]).status == 201)
    }

    @Test func testThatBitbucketsKeyHas40Characters() throws {
        let forge = forge(.bitbucket)
        let key = String(repeating: "k", count: 40)
        #expect(try post(forge, ["state": "FAILED", "key": key]).status == 201)
        #expect(try post(forge, ["state": "FAILED", "key": key + "k"]).status == 400)
        #expect(try post(forge, ["state": "STOPPED", "key": key]).status == 200)
    }

    @Test(arguments: [FakeForge.Kind.github, .gitlab, .gitea, .forgejo])
    func testThatItListsWhatItHasNewestFirst(_ kind: FakeForge.Kind) throws {
        let forge = forge(kind)
        _ = try post(forge, ["state": "pending"])
        _ = try post(forge, ["state": "success", "description": "42 tests passed"])
        let path =
            kind == .gitlab
            ? "/projects/acme%2Fkit/repository/commits/\(Self.commit)/statuses?name=martlet%2Fkit"
            : "/repos/acme/kit/commits/\(Self.commit)/statuses?per_page=30"
        let answer = forge.answer(
            "GET", forge.api + path, headers: ["PRIVATE-TOKEN": forge.token], authorization: "Bearer \(forge.token)",
            body: [])
        let list = try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [[String: Any]])
        #expect(list.count == 2)
        #expect(list[0]["description"] as? String == "42 tests passed")
    }

    @Test func testThatItAnswersAsPlannedOnceAndDoesNothingThen() throws {
        let forge = forge(.github)
        forge.answerNext(429, headers: ["Retry-After": "7"])
        let answer = try post(forge, ["state": "success"])
        #expect(answer.status == 429 && answer.headers["retry-after"] == "7")
        #expect(forge.history.isEmpty)
        #expect(try post(forge, ["state": "success"]).status == 201)
    }
}
