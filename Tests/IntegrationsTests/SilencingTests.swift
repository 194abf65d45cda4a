import BotSupport
import Integrations
import Model
import Storage
import TestSupport
import Testing

/// Silences over integrations: their effects on verdicts and counts, and their limits.
@Suite struct SilencingTests {
    private static let warning = "a.c:1:1: warning: this is bad [-Wbad]\n"

    private static func commit(_ files: [String: String] = ["a.c": "bad();\n"], path: String = "a.c") -> Commit {
        Commit(files: files).and(
            .playing(.building, of: "debug", output: "\(path):1:1: warning: this is bad [-Wbad]\n"))
    }

    private func life(_ integration: Integrated) -> [String] {
        integration.issues.map { "\($0.status) \($0.age)" + ($0.silence.map { ": \($0.reason)" } ?? "") }
    }

    @Test(.proves(.issueHistory, "An issue is muted with reason, user and expiry, and no failure becomes green by it"))
    func testThatASilencedWarningDoesNotCountUntilItExpires() async throws {
        try await withBot(configurations: ["debug"]) { bot in
            // given
            let first = try await bot.integrate(Self.commit())
            expectVerdict(of: first, .warnings)
            let name = String(first.issues[0].fingerprint.prefix(8))
            // when
            let issue = try await bot.operations.silence(
                name, of: first.id, reason: "the vendor's", expires: bot.time.now + .seconds(86_400), by: "ada")
            #expect(issue.status == .silenced)
            // then: what was judged before stays
            let reported = try await bot.completion(of: first.id)
            expectVerdict(of: reported, .warnings)
            #expect(reported.summary.counts.warnings == 1)
            #expect(life(reported) == ["silenced 1: the vendor's"])
            // Later integrations follow it, also with another name of the file
            let second = try await bot.integrate(
                Self.commit(["b.c": "bad();\n"], path: "b.c"), removing: ["a.c"])
            expectVerdict(of: second, .succeeded, because: "1 muted issue not counted")
            #expect(second.summary.counts.warnings == 0)
            #expect(second.summary.change.warnings == -1)
            #expect(life(second) == ["silenced 2: the vendor's"])
            #expect(second.issues[0].silence?.person == "ada")
            // It holds until it expires
            bot.time.advance(by: .seconds(90_000))
            let third = try await bot.integrate(Self.commit(["b.c": "bad();\n"], path: "b.c"))
            expectVerdict(of: third, .warnings)
            #expect(life(third) == ["unresolved 3: the vendor's"])
        }
    }

    @Test(.proves(.issueHistory, "An issue is muted with reason, user and expiry, and no failure becomes green by it"))
    func testThatItHoldsInARerunAndInOtherBranchesUntilItIsTakenBack() async throws {
        try await withBot(configurations: ["debug"], file: "branches: [main, topic]\n") { bot in
            let first = try await bot.integrate(Self.commit())
            let name = first.issues[0].fingerprint
            _ = try await bot.operations.silence(name, of: first.id, reason: "known", expires: nil, by: "ada")
            _ = try await bot.operations.rerun(first.id, Rerun(), by: "ada")
            let again = try await bot.completion(of: first.id)
            expectVerdict(of: again, .succeeded, because: "1 muted issue not counted")
            let topic = try await bot.integrate(Self.commit(["x": "1"]), on: "topic")
            #expect(life(topic) == ["silenced 2: known"], "it is compared with the commit where the branch began")
            expectVerdict(of: topic, .succeeded)
            // when
            #expect(try await bot.operations.unsilence(name, of: topic.id, by: "eve") == name)
            // then
            let last = try await bot.integrate(Self.commit(["x": "2"]), on: "topic")
            #expect(life(last) == ["unresolved 3"])
            expectVerdict(of: last, .warnings)
        }
    }

    @Test(.proves(.issueHistory, "An issue is muted with reason, user and expiry, and no failure becomes green by it"))
    func testThatAnotherWarningStillCounts() async throws {
        try await withBot(configurations: ["debug"]) { bot in
            let first = try await bot.integrate(Self.commit())
            _ = try await bot.operations.silence(
                first.issues[0].fingerprint, of: first.id, reason: "known", expires: nil, by: "ada")
            let second = try await bot.integrate(
                Commit(files: ["x": "1"]).and(
                    .playing(
                        .building, of: "debug", output: Self.warning + "c.c:3:1: warning: worse [-Wworse]\n")))
            expectVerdict(of: second, .warnings)
            #expect(second.summary.counts.warnings == 1)
        }
    }

    @Test(.proves(.issueHistory, "An issue is muted with reason, user and expiry, and no failure becomes green by it"))
    func testThatNoFailureIsMadeGreen() async throws {
        try await withBot(configurations: ["debug"]) { bot in
            // given a failing test, silenced
            let red = try await bot.integrate(.failing("debug"))
            _ = try await bot.operations.silence(
                red.issues[0].fingerprint, of: red.id, reason: "known", expires: nil, by: "ada")
            // when it fails again
            let still = try await bot.integrate(.failing("debug"))
            // then: it is red and counted, and not new for anybody
            expectVerdict(of: still, .testFailures)
            #expect(still.summary.counts.testFailures == 1)
            #expect(life(still) == ["silenced 2: known"])
        }
    }

    @Test func testThatWhatCannotBeSilencedIsSaid() async throws {
        try await withBot(configurations: ["debug"]) { bot in
            let first = try await bot.integrate(Self.commit())
            let name = first.issues[0].fingerprint
            func refused(
                _ code: OperationError.Code, _ fingerprint: String, reason: String = "known", after: Duration? = nil
            ) async {
                await expectRejection(OperationError.self, \.code, code) {
                    try await bot.operations.silence(
                        fingerprint, of: first.id, reason: reason, expires: after.map { bot.time.now + $0 }, by: "ada")
                }
            }
            await refused(.invalid, String(name.prefix(5)))
            await refused(.notFound, "0123456789abcdef0123")
            await refused(.invalid, name, reason: " ")
            await refused(.invalid, name, reason: String(repeating: "x", count: 1001))
            await refused(.conflict, name, after: .seconds(-1))
            await refused(.conflict, name, after: .seconds(11 * 366 * 86_400))
            let fixed = try await bot.integrate(Commit(files: ["a.c": "good();\n"]))
            await expectRejection(OperationError.self, \.code, .conflict) {
                try await bot.operations.silence(name, of: fixed.id, reason: "known", expires: nil, by: "ada")
            }
            await expectRejection(OperationError.self, \.code, .notFound) {
                try await bot.operations.unsilence(name, of: first.id, by: "ada")
            }
        }
    }
}
