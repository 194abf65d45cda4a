import Testing

@testable import Web

@Suite struct LargeBodiesTests {
    @Test func testW11ThatAllTogetherTakeLessThan32MB() {
        #expect(LargeBodies.maximumBytes < 31_000_000)
    }

    @Test func testThatABodyMovesToALargerClassAndLeavesItsSeat() async throws {
        // given
        let bodies = LargeBodies()
        let holders = (1...8).map { _ in LargeBodies.Holder() }
        for holder in holders { #expect(try await bodies.grow(holder, to: 100_000) == 256 << 10) }

        // when
        #expect(try await bodies.grow(holders[0], to: 200_000) == nil)
        #expect(try await bodies.grow(holders[0], to: 300_000) == 1 << 20)

        // then
        let next = LargeBodies.Holder()
        #expect(try await bodies.grow(next, to: 100_000) == 256 << 10, "the seat is taken")
        withExtendedLifetime(holders) {}
    }

    @Test func testW11ThatWhoWaitsForTheLargestSeatGetsItWhenItIsLetGo() async throws {
        // given
        let bodies = LargeBodies()
        var first: LargeBodies.Holder? = LargeBodies.Holder()
        _ = try await bodies.grow(try #require(first), to: 20 << 20)
        let second = LargeBodies.Holder()
        let waiting = Task { try await bodies.grow(second, to: 5 << 20) }

        // when
        first = nil

        // then
        #expect(try await waiting.value == 26 << 20)
        #expect(first == nil)
    }

    @Test func testThatABodyThatComesAtOnceTakesTheSeatOfItsSize() async throws {
        let bodies = LargeBodies()
        let holder = LargeBodies.Holder()
        #expect(try await bodies.grow(holder, to: 2 << 20) == 26 << 20)
        let small = LargeBodies.Holder()
        #expect(try await bodies.grow(small, to: 100_000) == 256 << 10)
    }
}
