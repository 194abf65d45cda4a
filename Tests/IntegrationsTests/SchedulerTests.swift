import BotSupport
import Model
import Storage
import TestSupport
import Testing

@testable import Integrations

@Suite struct SchedulerTests {
    private func choose(
        _ queued: [OpenIntegration], running: [OpenIntegration] = [], capacity: Int = 9
    ) -> [String] {
        Scheduler.choose(from: queued, running: running, capacity: capacity).map(\.id.description)
    }

    private func branch(_ name: String) -> RefName { RefName(branch: name) }

    @Test(
        .proves(
            .intake,
            "A toolchain's upgrade is not integrated with `upgrades: false`, is never skipped by `paths` or `[skip ci]`, and runs after commits and before schedules"
        ), .proves(.intake, "The lease by capacity, priority and fairness"))
    func testThatAPersonGoesFirstThenReleasesThenBranchesThenUpgradesThenSchedules() throws {
        // given
        let queued = [
            try Samples.open(1, ref: branch("a"), cause: .schedule),
            try Samples.open(2, ref: branch("b"), cause: .push),
            try Samples.open(3, ref: branch("release/1.0"), cause: .push, isRelease: true),
            try Samples.open(4, ref: branch("d"), cause: .person),
            try Samples.open(5, ref: branch("release/1.1"), cause: .upgrade, isRelease: true),
        ]

        // when
        let chosen = choose(queued)

        // then
        #expect(chosen == ["kit#4", "kit#3", "kit#2", "kit#5", "kit#1"])
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: forks' run after everything else, with at most half of the capacity for one bot and never with all of it"
        ))
    func testThatForksGoLastOfAll() throws {
        // given
        let queued = [
            try Samples.open(1, ref: RefName(pullRequest: 1), cause: .pull, isFork: true),
            try Samples.open(2, ref: branch("a"), cause: .schedule),
            try Samples.open(3, ref: RefName(pullRequest: 2), cause: .pull),
            try Samples.open(4, ref: branch("b"), cause: .push),
        ]

        // when, then: one of the repository's own is treated as a push
        #expect(choose(queued) == ["kit#3", "kit#4", "kit#2", "kit#1"])
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: forks' run after everything else, with at most half of the capacity for one bot and never with all of it"
        ))
    func testThatForksLeaveRoomForWhateverElseComes() throws {
        // given: more than the capacity, of two bots
        let kit = try (1...9).map { try Samples.open($0, ref: RefName(pullRequest: $0), cause: .pull, isFork: true) }
        let other = try (11...19).map {
            try Samples.open($0, bot: "other", ref: RefName(pullRequest: $0), cause: .pull, isFork: true)
        }

        // when, then: half of the capacity for one bot, and one place stays free
        #expect(choose(kit, capacity: 5) == ["kit#1", "kit#2"])
        #expect(choose(kit + other, capacity: 5) == ["kit#1", "other#11", "kit#2", "other#12"])
        #expect(choose(kit, running: [kit[0], kit[1]], capacity: 5) == [])
        #expect(choose(kit, capacity: 2) == ["kit#1"])
        #expect(choose(kit + other, capacity: 2) == ["kit#1"])
        // A push, or a user's request for a fork's pull request, comes in beside them
        let push = try Samples.open(30, ref: branch("a"))
        #expect(choose(kit + [push], running: [kit[0], kit[1]], capacity: 5) == ["kit#30"])
        let rerun = try Samples.open(31, ref: RefName(pullRequest: 31), cause: .pull, run: 2, isFork: true)
        #expect(choose(kit + [rerun], running: [kit[0], kit[1]], capacity: 5) == ["kit#31"])
    }

    @Test func testThatARerunGoesFirstSinceAPersonAskedForIt() throws {
        // given
        let queued = [
            try Samples.open(3, ref: branch("release/1.0"), isRelease: true),
            try Samples.open(4, ref: branch("a"), cause: .schedule, run: 2),
        ]

        // when, then
        #expect(choose(queued) == ["kit#4", "kit#3"])
    }

    @Test func testThatAPersonsBotWithManyRunningStillGoesFirst() throws {
        // given
        let running = try (1...3).map { try Samples.open($0, bot: "busy", ref: branch("b\($0)")) }
        let queued = [
            try Samples.open(8, bot: "idle", ref: branch("a")),
            try Samples.open(9, bot: "busy", ref: branch("a"), cause: .person),
        ]

        // when, then
        #expect(choose(queued, running: running, capacity: 4) == ["busy#9"])
    }

    @Test(
        .proves(
            .intake,
            "An integration begins beside those that come after it, however many these are; of each kind as many as the capacity"
        ))
    func testThatNightliesTakeNoPlaceFromWhatGoesBeforeThem() throws {
        // given: they use the whole capacity
        let running = try (1...3).map { try Samples.open($0, bot: "kit\($0)", ref: branch("main"), cause: .schedule) }
        let queued = [
            try Samples.open(5, bot: "app", ref: branch("a"), cause: .schedule),
            try Samples.open(6, bot: "app", ref: branch("b")),
            try Samples.open(7, bot: "app", ref: branch("c"), cause: .person),
        ]

        // when, then: all but one more of their kind
        #expect(choose(queued, running: running, capacity: 3) == ["app#7", "app#6"])
    }

    @Test(
        .proves(
            .intake,
            "An integration begins beside those that come after it, however many these are; of each kind as many as the capacity"
        ))
    func testThatWhatGoesBeforeTakesPlacesFromNightlies() throws {
        // given
        let running = [
            try Samples.open(1, ref: branch("a"), cause: .person), try Samples.open(2, ref: branch("b")),
            try Samples.open(3, ref: branch("c"), cause: .schedule),
        ]

        // when, then
        let nightly = try Samples.open(4, ref: branch("d"), cause: .schedule)
        #expect(choose([nightly], running: running, capacity: 3) == [])
        #expect(choose([nightly], running: running, capacity: 4) == ["kit#4"])
    }

    @Test(
        .proves(
            .intake,
            "An integration begins beside those that come after it, however many these are; of each kind as many as the capacity"
        ))
    func testThatOfEachKindNoMoreThanTheCapacityBegin() throws {
        // given: more of each than the capacity, in sequence, the last first
        let kinds: [(cause: Cause, isRelease: Bool, isFork: Bool)] = [
            (.pull, false, true), (.schedule, false, false), (.upgrade, false, false), (.push, false, false),
            (.push, true, false), (.person, false, false),
        ]
        var running: [OpenIntegration] = []
        for (index, kind) in kinds.enumerated() {
            let queued = try (1...9).map { number in
                try Samples.open(
                    10 * index + number, bot: "kit\(number)", ref: branch("b\(index)"), cause: kind.cause,
                    isRelease: kind.isRelease, isFork: kind.isFork)
            }

            // when
            let chosen = Scheduler.choose(from: queued, running: running, capacity: 3)

            // then: with forks' one place stays free
            #expect(chosen.count == (kind.isFork ? 2 : 3), "\(kind)")
            running += chosen
        }
    }

    @Test(
        .proves(
            .intake,
            "An integration begins beside those that come after it, however many these are; of each kind as many as the capacity"
        ))
    func testThatABotsNightliesDoNotHoldUpItsCommits() throws {
        // given
        let running = try (1...2).map {
            try Samples.open($0, bot: "busy", ref: branch("b\($0)"), cause: .schedule)
        }
        let queued = [
            try Samples.open(3, bot: "busy", ref: branch("main")),
            try Samples.open(4, bot: "idle", ref: branch("main")),
        ]

        // when, then: in the order of their arrival
        #expect(choose(queued, running: running, capacity: 3) == ["busy#3", "idle#4"])
    }

    @Test func testThatAScheduledReleaseBranchStillWaitsForCommits() throws {
        // given
        let queued = [
            try Samples.open(1, ref: branch("release/1.0"), cause: .schedule, isRelease: true),
            try Samples.open(2, ref: branch("main"), cause: .push),
        ]

        // when, then
        #expect(choose(queued) == ["kit#2", "kit#1"])
    }

    @Test func testThatTheBotWithTheFewestRunningGoesFirst() throws {
        // given
        let running = [try Samples.open(1, bot: "busy", ref: branch("a"))]
        let queued = [
            try Samples.open(2, bot: "busy", ref: branch("b")),
            try Samples.open(3, bot: "busy", ref: branch("c")),
            try Samples.open(4, bot: "idle", ref: branch("a")),
        ]

        // when
        let chosen = choose(queued, running: running, capacity: 3)

        // then
        #expect(chosen == ["idle#4", "busy#2"])
    }

    @Test(.proves(.intake, "The lease by capacity, priority and fairness"))
    func testThatBotsTakeTurns() throws {
        // given
        let queued =
            try (1...4).map { try Samples.open($0, bot: "first", ref: branch("b\($0)")) }
            + (5...6).map { try Samples.open($0, bot: "second", ref: branch("b\($0)")) }

        // when, then
        #expect(choose(queued, capacity: 4) == ["first#1", "second#5", "first#2", "second#6"])
    }

    @Test(.proves(.intake, "The lease by capacity, priority and fairness"))
    func testThatOneRefIsIntegratedByOneAtATimeInOrder() throws {
        // given
        let queued = [
            try Samples.open(2), try Samples.open(1), try Samples.open(3, ref: branch("x")),
        ]

        // when, then
        #expect(choose(queued) == ["kit#1", "kit#3"])
        #expect(choose(queued, running: [try Samples.open(9)]) == ["kit#3"])
    }

    @Test func testThatTheSameBranchOfAnotherBotDoesNotWait() throws {
        // given
        let queued = [try Samples.open(1, bot: "other")]

        // when, then
        #expect(choose(queued, running: [try Samples.open(9)]) == ["other#1"])
    }

    @Test func testThatABranchAndATagOfOneNameAreTwoRefs() throws {
        // given
        let queued = [
            try Samples.open(1, ref: branch("1.0.0")), try Samples.open(2, ref: RefName(tag: "1.0.0")),
        ]

        // when, then
        #expect(choose(queued) == ["kit#1", "kit#2"])
    }

    @Test(arguments: [(0, 0), (1, 0), (2, 1), (9, 3)])
    func testThatItKeepsToItsCapacity(capacity: Int, count: Int) throws {
        // given
        let queued = try (1...3).map { try Samples.open($0, ref: branch("b\($0)")) }
        let running = [try Samples.open(9)]

        // when, then
        #expect(choose(queued, running: running, capacity: capacity).count == count)
    }

    @Test func testThatWhatRunsAlreadyIsNotChosenAgain() throws {
        // given
        let one = try Samples.open(1)

        // when, then
        #expect(choose([one], running: [one]) == [])
    }
}
