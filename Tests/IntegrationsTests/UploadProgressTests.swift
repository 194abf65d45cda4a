import BotSupport
import Integrations
import Model
import Releases
import Storage
import TestSupport
import Testing
import Transfer

@Suite struct UploadProgressTests {
    @Test(
        .proves(
            .releases,
            "Uploads: An upload's progress on page, API and command line: which file, bytes of bytes, which try and why"
        ))
    func testThatTheBotTellsHowFarAnUploadIs() async throws {
        try await withBot(configurations: ["debug"], file: BotPlan.uploading) { bot in
            // given: the first answer is lost, and the progress is recorded during each request
            bot.transport.serve("https://files.example/")
            bot.transport.fail(request: 2, with: .before(.interrupted))
            let (operations, seen) = (try bot.operations, Locked<[UploadProgress]>([]))
            let id = IntegrationID(bot: bot.name, number: 1)
            let trigger = try #require(Name("office"))
            bot.transport.witness { _ in
                let progress = operations.uploads(of: id)[trigger]
                seen.withLock { $0 += progress.map { [$0] } ?? [] }
            }
            let (changes, count) = (try bot.store.changes(), Locked(0))
            let counting = Task {
                for await change in changes where change == .integration(id) { count.withLock { $0 += 1 } }
            }

            // when
            let release = try await bot.integrate(.succeeding, on: "release/1.0")

            // then: each file, in order, with its tries
            let told = seen.value
            let names = try bot.publishedFiles("1.0.0")
            #expect(Set(told.map(\.file)) == Set(names))
            #expect(told.allSatisfy { $0.count == names.count && $0.size > 0 })
            #expect(told.contains { $0.phase == .readingBack && $0.attempt == 2 && $0.interruption != nil })
            #expect(told.contains { $0.phase == .moving })
            expectContains(release.trigger("office")?.reason ?? "", "; interrupted and tried again 1 time")

            // After its end there is no progress, and readers were notified to look.
            #expect(operations.uploads(of: id).isEmpty)
            await until("those who look were told of each file's three steps") { count.value > names.count * 3 }
            counting.cancel()
            await counting.value
            _ = bot.transport.takeRequests()
        }
    }

    @Test func testThatThoseWhoLookAreToldATwentiethAtATime() throws {
        // given
        let board = UploadBoard()
        let id = IntegrationID(bot: try #require(Name("kit")), number: 41)
        let trigger = try #require(Name("office"))
        func note(_ bytes: Int64, attempt: Int = 1) -> Bool {
            board.record(
                UploadProgress(
                    phase: .sending, file: "kit.tar.zst", number: 1, count: 3, bytes: bytes, size: 64 << 20,
                    attempt: attempt, interruption: attempt > 1 ? "the line broke" : nil),
                integration: id, trigger: trigger)
        }

        // when
        let told = (0...4096).count { note(Int64($0) * 16384) }

        // then
        #expect(told == 21)
        #expect(!note(64 << 20))
        #expect(note(64 << 20, attempt: 2))
        #expect(
            board.uploads(of: id)[trigger]?.sentence
                == "sending kit.tar.zst, file 1 of 3: 64 MiB of 64 MiB, try 2 (the line broke)")
        board.end(integration: id, trigger: trigger)
        #expect(board.uploads(of: id).isEmpty)
    }
}
