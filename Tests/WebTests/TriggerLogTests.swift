import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// Logs of triggers' scripts, on their pages and as raw text.
@Suite(
    .proves(
        .intake, "A configuration called as a trigger hides none of its logs: a trigger's log has an address of its own"
    ))
struct TriggerLogTests {
    private static let page = "/bots/kit/1"
    private static let api = "/api/v1/bots/kit/integrations/1"

    /// - Parameter trigger: The trigger whose script printed `told`. The sample's configurations are `debug` and `release`.
    private func withSample(
        trigger: String, _ body: @Sendable (WebFixture) async throws -> Void
    ) async throws {
        try await withWeb { web in
            try await SampleContent(web: web).fill()
            let place = "integrations/kit/1/_trigger-\(trigger)/1"
            try web.directory.write("state/\(place)/log", "told\n")
            try await web.store.recordTrigger(
                TriggerRecord(
                    integration: IntegrationID(bot: SampleContent.kit, number: 1), trigger: Name(nearest: trigger),
                    attempt: 1, phase: .after, state: .succeeded, startedAt: WebFixture.now, endedAt: WebFixture.now,
                    log: place))
            try await body(web)
        }
    }

    @Test func testThatATriggersLogIsNotHiddenByAConfigurationOfItsName() async throws {
        try await withSample(trigger: "debug") { web in
            // when
            let integration = try await web.send("GET", Self.page).text
            let page = try await web.send("GET", Self.page + "/log/_trigger-debug?attempt=1").text
            let raw = try await web.send("GET", Self.api + "/log/_trigger-debug")

            // then
            expectContains(integration, Self.page + "/log/_trigger-debug?attempt=1")
            expectContains(page, "told</span>")
            expectContains(page, "Log of debug")
            expectContains(page, Self.api + "/log/_trigger-debug?attempt=1")
            #expect(raw.text == "told\n")
            expectContains(try await web.send("GET", Self.api + "/log/debug").text, "Building for debugging")
            try await web.expect(404, "GET", Self.api + "/log/_trigger-release")
            try await web.expect(404, "GET", Self.api + "/log/_trigger-")
        }
    }

    /// The earlier form of addresses, which users also write.
    @Test func testThatATriggersLogIsFoundByItsNameAloneToo() async throws {
        try await withSample(trigger: "office") { web in
            #expect(try await web.send("GET", Self.api + "/log/office").text == "told\n")
            expectContains(try await web.send("GET", Self.page + "/log/office").text, "told</span>")
        }
    }
}
