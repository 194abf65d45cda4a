import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// Commands with `--wait`, with a service that runs nothing.
@Suite struct WaitingTests {
    @Test(
        .proves(.jobs, "A rerun that was taken back is no result: who waits for it is told so, with status 1"),
        arguments: [[], ["--json"]])
    func testThatARerunThatIsTakenBackIsNotTheResultBefore(_ arguments: [String]) async throws {
        try await withWeb(bots: ["kit": "repository: \(SampleContent.repository)\n"]) { web in
            // given: a green integration, for whose rerun a client waits
            try await SampleContent(web: web).fill()
            let id = IntegrationID(bot: SampleContent.kit, number: 3)
            async let waiting = martlet(["rerun", "\(id)", "--wait"] + arguments, web)
            try await until("it is queued") { try await web.store.integration(id)?.state == .queued }
            // when
            let canceled = try await martlet(["cancel", "\(id)"], web)
            // then
            #expect(canceled.status == 0, "\(canceled.stderr)")
            let result = try await waiting
            #expect(result.status == 1)
            expectContains(
                result.stderr,
                "kit#3: run 2 was withdrawn before it began, so the result is still that of run 1; `martlet show kit#3`"
            )
            #expect(!result.stdout.contains("succeeded"))
        }
    }
}
