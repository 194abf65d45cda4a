import Integrations
import Model
import Releases
import Storage
import TestSupport
import Testing
import Transfer

@testable import Web

@Suite struct UploadProgressPageTests {
    @Test(
        .proves(
            .releases,
            "Uploads: An upload's progress on page, API and command line: which file, bytes of bytes, which try and why"
        ))
    func testThatPageAndInterfaceSayHowFarAnUploadIs() async throws {
        try await withWeb { web in
            // given
            try await SampleContent(web: web).fill()
            let id = IntegrationID(bot: SampleContent.kit, number: 3)
            let trigger = try #require(Name("office"))
            var record = TriggerRecord(
                integration: id, trigger: trigger, attempt: 1, run: 1, phase: .after, state: .running,
                startedAt: WebFixture.now)
            try await web.store.recordTrigger(record)
            let progress = UploadProgress(
                phase: .sending, file: "<kit>.tar.zst", number: 2, count: 3, bytes: 16 << 20, size: 64 << 20,
                attempt: 2,
                interruption: "the line broke")
            _ = web.operations.board.record(progress, integration: id, trigger: trigger)
            let (page, api) = (
                "/bots/\(id.bot)/\(id.number)", "/api/v1/bots/\(id.bot)/integrations/\(id.number)/triggers"
            )

            // when
            let (shown, answered) = (try await web.send("GET", page), try await web.json(api))
            let printed = try await martlet(["show", "kit#3"], web)

            // then
            expectContains(
                shown.text, "sending &lt;kit&gt;.tar.zst, file 2 of 3: 16 MiB of 64 MiB, try 2 (the line broke)")
            expectContains(shown.text, "<progress max=\"67108864\" value=\"16777216\"")
            expectContains(answered, "\"bytes\":16777216")
            expectContains(answered, "\"attempt\":2")
            expectContains(answered, "\"interruption\":\"the line broke\"")

            expectContains(
                printed.stdout, "sending <kit>.tar.zst, file 2 of 3: 16 MiB of 64 MiB, try 2 (the line broke)")

            // when it has ended, nothing is shown
            record.state = .succeeded
            record.endedAt = WebFixture.now
            try await web.store.recordTrigger(record)
            #expect(try await !web.send("GET", page).text.contains("<progress"))
            expectContains(try await web.json(api), "\"upload\":null")
        }
    }
}
