import BotSupport
import Logging
import Model
import Storage
import TestSupport
import Testing
import Transfer

/// Shows that each check of the fixture can fail.
@Suite struct BotTests {
    @Test func testThatARequestThatNobodyLookedAtIsReported() async throws {
        try await withKnownIssue {
            try await withBot { bot in
                bot.transport.serve("https://files.example/")
                _ = try await bot.transport.perform(TransferRequest(.get, "https://files.example/a"))
            }
        } matching: { issue in
            issue.comments.contains { $0.rawValue.contains("never read") }
        }
    }

    @Test func testThatAnErrorLineIsReported() async throws {
        try await withKnownIssue {
            try await withBot { bot in bot.log.logger.error("oh") }
        } matching: { issue in
            issue.comments.contains { $0.rawValue.contains("unexpected log line: error: oh") }
        }
    }

    @Test func testThatWhatTheBodyThrowsIsThrownAfterTheServiceHasStopped() async throws {
        struct Oh: Error {}
        let used = Locked<Bot?>(nil)
        await #expect(throws: Oh.self) {
            try await withBot { bot in
                used.withLock { $0 = bot }
                throw Oh()
            }
        }
        #expect(used.value?.isRunning == false)
    }

    @Test func testThatExpectationsNameTheDifference() async throws {
        try await withBot { bot in
            // given
            let integration = try await bot.integrate()

            // when, then
            withKnownIssue {
                expectSteps(of: integration, [.building: .failed])
            } matching: { issue in
                issue.comments.contains { $0.rawValue.contains("kit#1: building succeeded, expected failed") }
            }
            withKnownIssue {
                expectVerdict(of: integration, .warnings, because: "unused")
            } matching: { issue in
                issue.comments.contains {
                    $0.rawValue.contains("succeeded, expected warnings; the reason has no \"unused\"")
                }
            }
            withKnownIssue {
                expectIssues(of: integration, ["new error a.c:1: no"])
            } matching: { issue in
                issue.comments.contains { $0.rawValue.contains("missing issue: new error a.c:1: no") }
            }
            withKnownIssue {
                expectTriggers(of: integration, ["publish": .succeeded])
            } matching: { issue in
                issue.comments.contains { $0.rawValue.contains("trigger publish not there, expected succeeded") }
            }
            withKnownIssue {
                expectResult(of: integration, "trigger-error")
            } matching: { issue in
                issue.comments.contains { $0.rawValue.contains("succeeded, expected trigger-error") }
            }
            await withKnownIssue {
                try await expectPublished(by: bot, ["1.0.0"])
            }
        }
    }
}
