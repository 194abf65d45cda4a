import Basics
import Foundation
import Logging
import TestSupport
import Testing

@Suite struct TemporaryDirectoryTests {
    @Test func testThatItIsNamedAfterTheTestAndGoneAfterwards() async throws {
        let path = try await withTemporaryDirectory { temporary in
            try temporary.write("a/b", "text")
            #expect(try temporary.text("a/b") == "text")
            #expect(temporary.path.contains("IsNamedAfter"))
            #expect(temporary.path("socket.sock").utf8.count <= 107)
            return temporary.path
        }
        expectNoFile(path)
    }

    @Test(arguments: [0o755, 0o711, 0o4755] as [UInt16])
    func testThatWhatCanBeRunIsAsItWasWrittenToo(mode: UInt16) async throws {
        try await withTemporaryDirectory { temporary in
            // given
            try temporary.write("-bin/tool", "another")
            // when
            let path = try temporary.write("-bin/tool", "#!/bin/sh\necho ran\n", mode: mode)
            // then
            #expect(try temporary.directory().status("-bin/tool")?.mode ?? 0 == mode)
            #expect(try await run([path]).stdout == "ran\n")
            #expect(try temporary.directory().entries().map(\.name) == ["-bin"])
        }
    }

    @Test(
        .proves(
            .testsAndPages,
            "`Tests/TestSupport`: directories, seeded identifiers, clock, logger, git, processes, expectations"))
    func testThatItIsGoneWhenTheBodyThrows() async throws {
        let path = Locked("")
        await #expect(throws: CancellationError.self) {
            try await withTemporaryDirectory { temporary in
                path.withLock { $0 = temporary.path }
                throw CancellationError()
            }
        }
        #expect(!path.value.isEmpty)
        expectNoFile(path.value)
    }
}

@Suite struct ManualClockTests {
    @Test func testThatSleepersWakeInTheOrderOfTheirTimesAndNotBefore() async throws {
        // given
        let clock = ManualClock()
        let woken = Locked<[Int]>([])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for seconds in [3, 1, 2] {
                group.addTask {
                    try await clock.sleep(for: .seconds(seconds))
                    woken.withLock { $0.append(seconds) }
                }
            }
            await clock.awaitSleepers(3)
            // when
            clock.advance(by: .milliseconds(999))
            // then
            #expect(clock.sleeperCount == 3)
            for count in 1...3 {
                clock.advance(by: .seconds(1))
                await until("\(count) woken") { woken.value.count == count }
            }
            try await group.waitForAll()
        }
        #expect(woken.value == [1, 2, 3])
        #expect(clock.now.offset == .milliseconds(3999))
    }

    @Test func testThatACanceledSleeperWakesAtOnce() async throws {
        let clock = ManualClock()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await #expect(throws: CancellationError.self) { try await clock.sleep(for: .seconds(1)) }
            }
            await clock.awaitSleepers()
            group.cancelAll()
            try await group.waitForAll()
        }
        #expect(clock.sleeperCount == 0)
    }
}

@Suite struct SeededIdentifiersTests {
    @Test func testThatTheyAreTheSameForOneTestAndDifferBetweenTests() {
        let (one, again, other) = (SeededIdentifiers(), SeededIdentifiers(), SeededIdentifiers(seed: "other"))
        let identifiers = (0..<1000).map { _ in one.next() }
        #expect(identifiers == (0..<1000).map { _ in again.next() })
        #expect(Set(identifiers).count == 1000)
        #expect(Set(identifiers).isDisjoint(with: (0..<1000).map { _ in other.next() }))
    }
}

@Suite struct RecordingLoggerTests {
    @Test func testThatAnUnexpectedErrorLineFailsTheTest() {
        withKnownIssue {
            RecordingLogger().logger.error("the disk is full")
        } matching: {
            $0.description.contains("the disk is full")
        }
    }

    @Test func testThatExpectedErrorsAndLowerLevelsDoNot() {
        // given
        let recorder = RecordingLogger()
        recorder.expectErrors(containing: "disk is full")
        // when
        recorder.logger.warning("slow", metadata: ["integration": "kit#1"])
        recorder.logger.error("the disk is full")
        // then
        #expect(recorder.lines.map(\.description) == ["warning: slow integration=kit#1", "error: the disk is full"])
    }
}

@Suite struct UntilTests {
    @Test func testThatItFailsTheTestWhenItsLimitPasses() async {
        await withKnownIssue {
            await until("never", limit: .milliseconds(20)) { false }
        } matching: {
            $0.description.contains("never did not come to be within")
        }
    }

    @Test func testThatItReturnsAsSoonAsItHolds() async {
        var rounds = 0
        let holds = await until {
            rounds += 1
            return rounds == 3
        }
        #expect(holds && rounds == 3)
    }
}
