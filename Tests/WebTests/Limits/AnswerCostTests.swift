import HTTPTypes
import TestSupport
import Testing

@testable import Web

@Suite struct AnswerCostTests {
    /// An answer whose cost grows with its contents would delay all connections of an address.
    @Test(
        .proves(
            .intake,
            "Only small, fixed answers are computed on the connections' thread; lists, pages and exports elsewhere"))
    func testThatOnlySmallFixedAnswersAreComputedOnTheConnectionsThread() async throws {
        try await withWeb { web in
            // given
            let reading = web.table.routes.filter { $0.method == .get }
            // when
            let small = reading.filter { $0.cost == .light }.map { "\($0.pattern)" }
            let free = reading.filter { $0.cost == .free }
            // then
            #expect(small.sorted() == ["/badge/{file}", "/registry/availability"])
            #expect(free.allSatisfy { $0.access == .open })
        }
    }
}
