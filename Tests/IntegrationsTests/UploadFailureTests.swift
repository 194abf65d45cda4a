import BotSupport
import Integrations
import Storage
import TestSupport
import Testing
import Transfer

/// The n-th request of an upload fails, for every n; then a user runs it again.
@Suite struct UploadFailureTests {
    enum Kind: CaseIterable, Sendable {
        case neverArrives, answerIsLost

        var failure: FakeTransport.Failure {
            switch self {
            case .neverArrives: .before(.unreachable)
            case .answerIsLost: .after(.unreachable)
            }
        }
    }

    @Test(arguments: Kind.allCases) func testThatTheNextRunEndsWithEveryFileOnceAndWhole(kind: Kind) async throws {
        var number = 0
        var wasReached = true
        while wasReached {
            number += 1
            try #require(number < 40)
            try await withBot(configurations: ["debug"], file: BotPlan.uploading) { bot in
                // given
                bot.transport.serve("https://files.example/")
                bot.transport.fail(request: number, with: kind.failure)

                // when
                let first = try await bot.integrate(on: "release/1.0")
                wasReached = bot.transport.count >= number
                guard wasReached else {
                    expectResult(of: first, "succeeded")
                    _ = bot.transport.takeRequests()
                    return
                }
                let again = try await bot.operations.rerun(first.id, Rerun(), by: "ada")
                #expect(again.integration.id == first.id)
                let second = try await bot.completion(of: first.id)

                // then
                #expect(["succeeded", "trigger-error"].contains(first.result))
                expectTriggers(of: second, ["publish": .succeeded, "office": .succeeded])
                #expect(second.trigger("publish")?.reason == "already 1.0.0")
                try await expectPublished(by: bot, ["1.0.0"])
                let names = try bot.publishedFiles("1.0.0")
                #expect(bot.transport.urls == names.map { "https://files.example/1.0.0/\($0)" }, "failure \(number)")
                for name in names {
                    let bytes = bot.transport.file("https://files.example/1.0.0/\(name)")
                    #expect(bytes == (try bot.publishedFile(name, of: "1.0.0")), "\(name) after failure \(number)")
                }
                _ = bot.transport.takeRequests()
            }
        }
        #expect(number > 5)
    }
}
