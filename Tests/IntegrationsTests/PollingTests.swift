import Model
import TestSupport
import Testing

@testable import Integrations

@Suite struct PollingTests {
    private static let start = Timestamp(millisecondsSinceEpoch: 1_772_366_400_000)

    private func ask(
        _ polling: inout Polling, _ polls: [String: [BotSpecification.Poll]], after seconds: Int,
        hooked: Set<String> = []
    ) async throws -> [String] {
        let now = Self.start + .seconds(seconds)
        let due = try await polling.due(of: polls, at: now) { hooked }
        polling.record(due, at: now)
        return due
    }

    @Test(
        .proves(.intake, "Polls scattered by a tenth, failed scans tried again after pauses that grow"),
        arguments: [(0.0, 54), (0.5, 60), (1.0, 66)])
    func testThatIntervalsAreScattered(jitter: Double, seconds: Int) async throws {
        var polling = Polling(jitter: { jitter })
        let polls = ["/a": [BotSpecification.Poll.automatic]]
        #expect(try await ask(&polling, polls, after: 0) == ["/a"])
        #expect(try await ask(&polling, polls, after: seconds - 1) == [])
        #expect(try await ask(&polling, polls, after: seconds) == ["/a"])
    }

    @Test func testThatTheShortestPauseOfARepositorysBotsCounts() async throws {
        var polling = Polling(jitter: { 0.5 })
        let polls = ["/a": [BotSpecification.Poll.off, .every(.seconds(600)), .every(.seconds(30))], "/b": [.off]]
        #expect(try await ask(&polling, polls, after: 0) == ["/a", "/b"])
        #expect(try await ask(&polling, polls, after: 30) == ["/a"])
        // A repository that changed is asked at once.
        #expect(try await ask(&polling, ["/a": [.off], "/b": [.off]], after: 31) == ["/a"])
        #expect(try await ask(&polling, ["/a": [.off], "/b": [.off]], after: 100_000) == [])
    }

    @Test func testThatAWebhookMakesThemRarer() async throws {
        var polling = Polling(jitter: { 0.5 })
        let polls = ["/a": [BotSpecification.Poll.automatic]]
        _ = try await ask(&polling, polls, after: 0)
        #expect(try await ask(&polling, polls, after: 60, hooked: ["/a"]) == [])
        #expect(try await ask(&polling, polls, after: 599, hooked: ["/a"]) == [])
        #expect(try await ask(&polling, polls, after: 600, hooked: ["/a"]) == ["/a"])
    }

    @Test(.proves(.intake, "Polls scattered by a tenth, failed scans tried again after pauses that grow"))
    func testC1ThatAClockThatWasSetBackAsksAtOnce() async throws {
        var polling = Polling(jitter: { 0.5 })
        let polls = ["/a": [BotSpecification.Poll.automatic]]
        _ = try await ask(&polling, polls, after: 0)
        #expect(try await ask(&polling, polls, after: -3600) == ["/a"])
        #expect(try await ask(&polling, polls, after: -3590) == [])
        #expect(try await ask(&polling, polls, after: -3540) == ["/a"])
    }
}
