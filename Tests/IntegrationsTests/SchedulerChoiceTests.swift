import BotSupport
import Jobs
import Model
import Storage
import TestSupport
import Testing

@testable import Integrations

/// The choice of the scheduler among many integrations.
@Suite struct SchedulerChoiceTests {
    /// Returns what the rules say of each candidate alone, one choice after another. It compares every candidate with every integration.
    private func chosenByRule(
        from queued: [OpenIntegration], running: [OpenIntegration], capacity: Int
    ) -> [OpenIntegration] {
        var chosen: [OpenIntegration] = []
        func rivals(_ candidate: OpenIntegration) -> [OpenIntegration] {
            (running + chosen).filter { $0.priority <= candidate.priority }
        }
        func load(_ candidate: OpenIntegration) -> Int { rivals(candidate).count { $0.id.bot == candidate.id.bot } }
        func mayRun(_ candidate: OpenIntegration) -> Bool {
            let active = running + chosen
            guard !active.contains(where: { $0.id.bot == candidate.id.bot && $0.ref == candidate.ref }),
                rivals(candidate).count < capacity
            else { return false }
            guard candidate.isFork, candidate.run == 1 else { return true }
            let forks = active.filter(\.isFork)
            return forks.count < max(1, capacity - 1)
                && forks.count { $0.id.bot == candidate.id.bot } < max(1, capacity / 2)
        }
        while true {
            let next = queued.filter(mayRun).min {
                ($0.priority, load($0), $0.rowID) < ($1.priority, load($1), $1.rowID)
            }
            guard let next else { return chosen }
            chosen.append(next)
        }
    }

    private func integrations(_ numbers: Range<Int>, _ dice: inout Mutator) throws -> [OpenIntegration] {
        try numbers.map { number in
            let causes: [Cause] = [.person, .push, .push, .pull, .upgrade, .schedule]
            let cause = causes[Int.random(in: causes.indices, using: &dice)]
            return try Samples.open(
                number, bot: "bot\(Int.random(in: 0..<4, using: &dice))",
                ref: RefName(branch: "b\(Int.random(in: 0..<6, using: &dice))"), cause: cause,
                isRelease: Int.random(in: 0..<5, using: &dice) == 0,
                run: Int.random(in: 0..<8, using: &dice) == 0 ? 2 : 1,
                isFork: cause == .pull && Bool.random(using: &dice))
        }
    }

    @Test(.proves(.intake, "The lease by capacity, priority and fairness"), arguments: 0..<200)
    func testThatItChoosesAsTheRulesSay(seed: UInt64) throws {
        // given
        var dice = Mutator(state: seed)
        let capacity = Int.random(in: 1...12, using: &dice)
        let running = try integrations(1..<Int.random(in: 2...8, using: &dice), &dice)
        let queued = try integrations(10..<50, &dice).shuffled(using: &dice)
        // when
        let chosen = Scheduler.choose(from: queued, running: running, capacity: capacity)
        // then
        #expect(chosen.map(\.id) == chosenByRule(from: queued, running: running, capacity: capacity).map(\.id))
    }

    /// By the rules alone it would take minutes, during which nothing starts.
    @Test(
        .proves(
            .intake,
            "With 2,000 bots that wait and 400 jobs at one time, the next are chosen without a noticeable pause"),
        .timeLimit(.minutes(1)))
    func testThatItChoosesHundredsOfThousandsQuickly() throws {
        // given
        let queued = try (1...2000).map { try Samples.open($0, bot: "bot\($0)") }
        // when
        let chosen = Scheduler.choose(from: queued, running: [], capacity: 403)
        // then
        #expect(chosen.map(\.rowID) == Array(1...403))
    }
}
