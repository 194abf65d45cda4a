import Model
import TestSupport
import Testing

@testable import Storage

@Suite struct StoreRemovalTests {
    @Test(.proves(.programs, "`martlet run` bounds its cache, and one run at a time works on a tree"))
    func testThatWhatIsBelowANumberGoesWithAllThatBelongsToIt() async throws {
        try await withStore(["kit", "app"]) { fixture in
            // given
            let store = fixture.store
            let again = try await StoreRerunsTests.done(fixture)
            try await store.recordTrigger(
                TriggerRecord(
                    integration: again.id, trigger: try name("publish"), attempt: 1, phase: .after, state: .failed,
                    startedAt: time(14)))
            _ = try await store.reopen(again.id, for: NewRerun(requestedBy: "ann", jobs: []), at: time(15))
            for _ in 1...3 {
                let attempt = try await StoreResultsTests.attempt(fixture)
                try await store.record(
                    step: StepRecord(index: 0, step: .building, name: "build", startedAt: time(20)), of: attempt)
                try await store.storeResults(try StoreResultsTests.results(), of: attempt, at: time(30))
            }
            let other = try await store.queue(
                NewIntegration(bot: try name("app"), ref: .main, commit: try commit(1), cause: .person), at: time(10))
            // when
            let removed = try await store.removeIntegrations(of: try name("kit"), below: 4)
            // then
            #expect(removed == [1, 2, 3])
            #expect(try await store.integrations().items.map(\.id.description) == ["app#1", "kit#4"])
            let left = try await store.attempts(of: IntegrationID(bot: try name("kit"), number: 4))
            #expect(left.count == 1)
            #expect(try await store.findings(of: left[0].id).count == 3)
            #expect(try await store.integration(other.id) != nil)
            #expect(try await fixture.damage().isEmpty)
            // No number is used again
            #expect(try await fixture.queue().id.number == 5)
            #expect(try await store.removeIntegrations(of: try name("kit"), below: 4).isEmpty)
        }
    }
}
