import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// The views of an integration that was caused by another toolchain.
@Suite struct UpgradeTests {
    @Test(
        .proves(
            .intake,
            "Another version of the machine's `swift` integrates each watched branch's tip again, once, except for the first version; all views show both versions"
        ))
    func testThatAnUpgradeSaysBothVersionsEverywhere() async throws {
        try await withWeb { web in
            // given
            try await SampleContent(web: web).fill()
            let label = "Swift 6.3.0 → 6.3.1"
            let queued = try await web.store.queue(
                NewIntegration(
                    bot: SampleContent.kit, ref: RefName(branch: "main"),
                    commit: try #require(CommitID(String(repeating: "2", count: 40))), cause: .upgrade,
                    requestedBy: label), at: WebFixture.now)
            // when
            let shown = try await martlet(["show", "\(queued.id)"], web)
            let page = try await web.send("GET", "/bots/kit/\(queued.id.number)")
            let answer = try await web.json("/api/v1/bots/kit/integrations/\(queued.id.number)")
            // then
            expectContains(shown.stdout, "\nupgrade, \(label)\n")
            expectContains(page.text, "new version of the toolchain: \(label)")
            expectContains(answer, #""cause":"upgrade","requestedBy":"\#(label)""#)
        }
    }
}
