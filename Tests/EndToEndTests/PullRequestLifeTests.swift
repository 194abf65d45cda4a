import Basics
import BotSupport
import Integrations
import Model
import Storage
import TestSupport
import Testing

/// Changes of a pull request that are not announced, or are announced too early, and the rest of a fork's job after a daemon was ended.
@Suite struct PullRequestLifeTests {
    @Test(
        .proves(
            .intake,
            "Pull requests: a head that the forge tells of before it lists it is looked for again, five times in a minute, and the delivery says so"
        ))
    func testThatAHeadThatIsToldOfBeforeItIsListedIsIntegratedByItself() async throws {
        try await withBot(pullPlan()) { bot in
            // given: the forge sends its event first
            _ = try await bot.integrate()
            let head = try await bot.pull(1, ["a": "1\n"], branch: "topic")
            try await bot.work.push(to: bot.remote, [":refs/pull/1/head"])
            let id = bot.identifiers.next()
            try await bot.send("opened", pull: 1, head: head, delivery: id)
            let waiting = try await bot.wait("the first scan") { store in
                try await store.deliveries().items.first {
                    $0.id == id && $0.reason?.contains("follows in 2 s") == true
                }
            }
            #expect(waiting.outcome == .pending)
            expectContains(
                waiting.reason ?? "", "the repository does not list refs/pull/1/head, not \(head.abbreviated) yet")

            // when: it arrives without an event
            try await bot.point(pull: 1, at: head)
            try await until("the scan after the pause", limit: Bot.waitLimit) {
                bot.timer.advance(by: .seconds(2))
                return try await !bot.integrations(ofPull: 1).isEmpty
            }

            // then
            expectResult(of: try await bot.completion(ofPull: 1, at: head), "succeeded")
            let decided = try await bot.wait("the outcome") { store in
                try await store.deliveries().items.first { $0.id == id && $0.outcome != .pending }
            }
            #expect(decided.outcome == .integrated && decided.reason == "pull request opened")
        }
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: a closing that was never announced is found: its ref is gone for ten minutes, its head is in its base, or 180 days passed without an event"
        ))
    func testThatOneThatWasMergedWithoutAWordIsFoundToBeClosed() async throws {
        try await withBot(pullPlan()) { bot in
            // given: one that is merged, and one that is not; the events of their closing are lost
            _ = try await bot.integrate()
            let head = try await bot.pull(1, ["a": "1\n"], branch: "topic")
            let other = try await bot.pull(2, ["b": "1\n"], branch: "other")
            for (number, head) in [(1, head), (2, other)] {
                try await bot.tell("opened", pull: number, head: head)
                _ = try await bot.completion(ofPull: number, at: head)
            }
            try await bot.work.git("merge", "-q", "--no-ff", "-m", "Merge", "\(head)")
            try await bot.work.push(to: bot.remote, ["main:refs/heads/main"])
            try await bot.announce()
            let merge = try await bot.work.head()
            _ = try await bot.completion(of: try await bot.integration(of: merge, on: RefName(branch: "main")).id)

            // when: any look finds the merge in the mirror
            try await bot.announce()

            // then
            try await bot.wait("its end") { store in
                try await store.openPulls(of: bot.remote.path).map(\.number) == [2] ? true : nil
            }
            let late = try await bot.tell("edited", pull: 1, head: head)
            #expect(late.outcome == .duplicate || late.outcome == .ignored, "\(late)")
        }
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: a fork has no secrets, no triggers, the base's recipe, a workspace and caches that are removed, network by policy (U1)"
        ))
    func testThatAForksWorkspaceIsRemovedByTheNextDaemon() async throws {
        try await withBot(pullPlan()) { bot in
            // given: a daemon was ended in the middle of a fork's job, whose integration has ended by now
            _ = try await bot.integrate()
            try await bot.stop()
            let root = "state/workspaces/kit/debug"
            for domain in ["fork", "trusted", "pull"] {
                try bot.directory.write("\(root)/\(domain)/7/tree/planted", "poison")
            }

            // when
            try await bot.start()

            // then: no other workspace is affected
            let workspaces = try bot.directory.directory()
            await until("the fork's is gone") { (try? workspaces.status("\(root)/fork/7")) == .some(nil) }
            #expect(try workspaces.status("\(root)/trusted/7/tree/planted") != nil)
            #expect(try workspaces.status("\(root)/pull/7/tree/planted") != nil)
        }
    }
}
