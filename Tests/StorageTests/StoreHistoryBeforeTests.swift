import Model
import Testing

@testable import Storage

/// The origin of an integration's commit.
@Suite struct StoreHistoryBeforeTests {
    @Test func testThatTheDefaultBranchAndTheLastJudgedCommitAreFound() async throws {
        try await withStore { fixture in
            // given
            let (store, bot) = (fixture.store, try name("kit"))
            try await fixture.scan([.main: commit(1)])
            let first = IntegrationID(bot: bot, number: 1)
            #expect(
                try await store.historyBefore(first)
                    == HistoryBefore(previous: nil, defaultBranch: .main, defaultCommit: commit(1)))
            try await store.apply(.started, to: first, at: time(110))
            try await store.apply(.completed(.succeeded, triggerFailed: false), to: first, at: time(120))
            // when
            try await fixture.scan([.main: commit(2)], at: 200)
            // then
            #expect(
                try await store.historyBefore(IntegrationID(bot: bot, number: 2))
                    == HistoryBefore(previous: commit(1), defaultBranch: .main, defaultCommit: commit(2)))
        }
    }
}
