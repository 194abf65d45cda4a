import Model
import Storage
import TestSupport
import Testing

@testable import Forges
@testable import Integrations

@Suite struct ForgeEventReaderTests {
    @Test(
        .proves(
            .intake,
            "Webhooks of GitHub: push, branch and tag created and deleted, pull request opened, updated, reopened, closed, ping"
        ), arguments: ForgeSample.hosted)
    func testThatAPushNamesWhatMovedAndWhere(forge: Forge) throws {
        let event = try ForgeSample.read(forge, ForgeSample.push(forge, before: String(repeating: "2", count: 40)))
        #expect(event.kind == .push)
        let claim = try #require(event.claims.first)
        #expect(claim.ref.description == "refs/heads/main")
        #expect(claim.before?.description == String(repeating: "2", count: 40))
        #expect(claim.after?.description == ForgeSample.one)
        #expect(event.repository.isAt("git@git.example:acme/kit.git"))
        #expect(event.repository.path == "acme/kit")
    }

    @Test(arguments: ForgeSample.hosted) func testThatAllZeroesAreARefCreatedOrDeleted(forge: Forge) throws {
        let created = try ForgeSample.read(forge, ForgeSample.push(forge))
        #expect(created.kind == .created && created.claims.first?.before == nil && created.asksForScan)
        let deleted = try ForgeSample.read(
            forge, ForgeSample.push(forge, before: ForgeSample.one, after: ForgeSample.zero))
        #expect(deleted.kind == .deleted && deleted.claims.first?.after == nil && deleted.asksForScan)
    }

    /// Fields that are not used may be missing or have unexpected values.
    @Test(arguments: ForgeSample.hosted) func testThatOddFieldsBesideDoNotRefuseAPush(forge: Forge) throws {
        let body = ForgeSample.push(forge).dropLast() + #","sender":1e400,"commits":{"a":[]},"pusher":null}"#
        #expect(try ForgeSample.read(forge, String(body)).claims.count == 1)
    }

    @Test(arguments: [
        (Forge.github, #"{}"#), (.github, #"{"ref":null,"before":null,"after":null}"#),
        (.gitlab, #"{"object_kind":"push"}"#),
        (.gitlab, "{}"), (.gitlab, #"{"object_kind":7}"#), (.bitbucket, "{}"),
        (.bitbucket, #"{"push":{"changes":{}}}"#),
        (.bitbucket, #"{"push":{"changes":[{}]}}"#), (.bitbucket, #"{"push":{"changes":[null]}}"#),
        (.bitbucketServer, "{}"), (.bitbucketServer, #"{"changes":[{"ref":{}}]}"#), (.gogs, "[]"), (.gitea, "42"),
        (.forgejo, "null"), (.github, "\u{1F}\u{8B}\u{8}"),
    ])
    func testThatAPushThatDoesNotSayWhatMovedIsRefused(forge: Forge, body: String) throws {
        let error = #expect(throws: ForgeError.self) { _ = try ForgeSample.read(forge, body) }
        #expect(error?.code == .invalid)
    }

    @Test(arguments: [
        "main", "refs", "refs/heads/\u{0}", "refs/heads/" + String(repeating: "a", count: NewEvent.maximumNameBytes),
        String(repeating: "a", count: 1 << 20), "HEAD", "",
    ])
    func testThatARefHasAFullNameOfBoundedLength(ref: String) throws {
        let body =
            #"{"ref":"\#(ref.replacing("\u{0}", with: "\\u0000"))","before":"\#(ForgeSample.zero)","after":"\#(ForgeSample.one)"}"#
        let error = #expect(throws: ForgeError.self) { _ = try ForgeSample.read(.github, body) }
        #expect((error?.message.utf8.count ?? 0) < 400)
    }

    @Test func testThatTooManyRefsAreRefused() throws {
        let change = #"{"ref":{"id":"refs/heads/a"},"fromHash":"\#(ForgeSample.zero)","toHash":"\#(ForgeSample.one)"}"#
        func body(_ count: Int) -> String {
            #"{"changes":[\#(Array(repeating: change, count: count).joined(separator: ","))]}"#
        }
        let most = PushRequest.maximumUpdates
        #expect(try ForgeSample.read(.bitbucketServer, body(most)).claims.count == most)
        let error = #expect(throws: ForgeError.self) { _ = try ForgeSample.read(.bitbucketServer, body(most + 1)) }
        #expect(error?.code == .tooLarge)
    }

    @Test func testThatSHA256IdentifiersAreTaken() throws {
        let zero = String(repeating: "0", count: 64)
        let one = String(repeating: "1", count: 64)
        let event = try ForgeSample.read(.github, ForgeSample.push(.github, before: zero, after: one))
        #expect(event.kind == .created && event.claims.first?.after?.description == one)
    }

    // MARK: Forges' own

    @Test func testThatASystemHooksUpdateNamesAllItsRefs() throws {
        let body =
            #"{"event_name":"repository_update","changes":[{"before":"\#(ForgeSample.zero)","after":"\#(ForgeSample.one)","#
            + #""ref":"refs/heads/a"},{"before":"\#(ForgeSample.one)","after":"\#(ForgeSample.zero)","ref":"refs/tags/b"}]}"#
        let event = try ForgeSample.read(.gitlab, body, event: "System Hook")
        #expect(event.kind == .push)
        #expect(event.claims.map(\.ref.description) == ["refs/heads/a", "refs/tags/b"])
    }

    @Test(
        .proves(.intake, "Webhooks of GitLab: token, and Standard Webhooks signature"),
        arguments: [
            ("open", "", "opened"), ("reopen", "", "reopened"), ("close", "", "closed"), ("merge", "", "closed"),
            ("update", "", ""),
            ("update", #","oldrev":"1""#, "updated"), ("approved", "", ""), ("approval", "", ""),
        ])
    func testThatMergeRequestsAreReadByTheirAction(action: String, rest: String, change: String) throws {
        let body = #"{"object_kind":"merge_request","object_attributes":{"action":"\#(action)"\#(rest)}}"#
        let event = try ForgeSample.read(.gitlab, body, event: "Merge Request Hook")
        if let change = ForgeEvent.PullRequestChange(rawValue: change) {
            #expect(event.kind == .pullRequest(change) && event.asksForScan)
        } else {
            #expect(!event.asksForScan)
        }
    }

    @Test(
        .proves(.intake, "Webhooks of Bitbucket Cloud, Bitbucket Server and Gogs"),
        arguments: [
            ("pr:opened", "opened"), ("pr:from_ref_updated", "updated"), ("pr:modified", "updated"),
            ("pr:merged", "closed"),
            ("pr:declined", "closed"), ("pr:deleted", "closed"), ("pr:reviewer:approved", ""), ("pr:comment:added", ""),
        ])
    func testThatPullRequestsOfBitbucketServerAreReadByTheirKey(key: String, change: String) throws {
        let event = try ForgeSample.read(.bitbucketServer, "{}", event: key)
        #expect(event.asksForScan == !change.isEmpty)
        if let change = ForgeEvent.PullRequestChange(rawValue: change) { #expect(event.kind == .pullRequest(change)) }
    }

    @Test(arguments: [
        (Forge.github, "ping"), (.bitbucketServer, "diagnostics:ping"),
    ])
    func testThatAPingIsOne(forge: Forge, word: String) throws {
        let event = try ForgeSample.read(forge, #"{"zen":"x"}"#, event: word)
        #expect(event.kind == .ping && !event.asksForScan)
    }

    @Test func testThatWhatWasCreatedWithoutACommitClaimsNone() throws {
        let event = try ForgeSample.read(.github, #"{"ref":"a/b","ref_type":"branch"}"#, event: "create")
        #expect(event.kind == .created)
        #expect(event.claims == [.head(of: RefName("refs/heads/a/b"))])
        let odd = try ForgeSample.read(.github, #"{"ref":null,"ref_type":"repository"}"#, event: "create")
        #expect(!odd.asksForScan)
    }

    // MARK: Whose delivery it is

    @Test(.proves(.intake, "The forge comes from the URL, never from headers"))
    func testW8ThatAnotherForgesHeadersAreRefusedAndToldApart() throws {
        for forge in ForgeSample.hosted {
            for other in ForgeSample.hosted where other.eventHeaders[0] != forge.eventHeaders[0] {
                if forge == .forgejo && other == .gitea { continue }
                let delivery = ForgeDelivery(
                    forge: forge, bot: nil, headers: [other.eventHeaders[0]: ForgeSample.word(other)],
                    body: Array(ForgeSample.push(other).utf8))
                let error = #expect(throws: ForgeError.self) { _ = try ForgeEventReader.read(delivery) }
                #expect(error?.code == .invalid)
                #expect(error?.message.contains("/webhooks/") == true)
            }
        }
        // GitLab's body with another forge's headers, and the reverse.
        for forge in [Forge.github, .gitea, .forgejo, .gogs] {
            #expect(throws: ForgeError.self) { _ = try ForgeSample.read(forge, ForgeSample.push(.gitlab)) }
            #expect(throws: ForgeError.self) { _ = try ForgeSample.read(.gitlab, ForgeSample.push(forge)) }
        }
    }

    @Test func testThatALongWordIsCut() throws {
        let event = try ForgeSample.read(.github, "{}", event: String(repeating: "é", count: 1000))
        #expect(event.word.utf8.count <= ForgeEvent.maximumWordBytes && !event.asksForScan)
    }

    // MARK: Forms

    @Test(arguments: [Forge.github, .gitea, .forgejo, .gogs])
    func testThatAFormsFieldIsRead(forge: Forge) throws {
        let form =
            "a=b&payload=%7B%22ref%22%3A%22refs%2Fheads%2Fa%22%2C+%22before%22%3A%22\(ForgeSample.zero)%22%2C%22after%22%3A%22"
            + "\(ForgeSample.one)%22%7D&payload=%7B%7D"
        let event = try ForgeSample.read(
            forge, form, headers: ["content-type": "Application/x-www-form-urlencoded; charset=utf-8"])
        #expect(event.claims.map(\.ref.description) == ["refs/heads/a"])
    }

    @Test(arguments: [
        "", "a=b", "payload", "payload=", "payload=%", "payload=%7", "payload=%zz", "payload=%7B", "xpayload=%7B%7D",
    ])
    func testThatAFormWithoutJSONIsRefused(form: String) throws {
        #expect(throws: ForgeError.self) {
            _ = try ForgeSample.read(
                .github, form, event: "star", headers: ["content-type": "application/x-www-form-urlencoded"])
        }
    }
}
