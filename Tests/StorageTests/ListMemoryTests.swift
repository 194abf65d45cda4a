import Model
import Testing

@testable import Storage

@Suite struct ListMemoryTests {
    private static let empty = Page<IntegrationOutline>(items: [], next: nil)
    private static let next = Page<IntegrationOutline>(items: [], next: 7)

    private static func key(_ limit: Int = 20, before cursor: Int64? = nil) -> ListMemory.Key {
        ListMemory.Key(filter: IntegrationFilter(), limit: limit, cursor: cursor)
    }

    @Suite struct GivenAListThatWasRead {
        @Test func testThatItIsNotReadAgain() async throws {
            // given
            let memory = ListMemory()
            _ = try await memory.list(ListMemoryTests.key()) { () throws(StoreError) in ListMemoryTests.next }
            // when: what would be read now
            let again = try await memory.list(ListMemoryTests.key()) { () throws(StoreError) in ListMemoryTests.empty }
            // then
            #expect(again == ListMemoryTests.next)
        }

        @Test func testThatAnotherIsRead() async throws {
            // given
            let memory = ListMemory()
            _ = try await memory.list(ListMemoryTests.key()) { () throws(StoreError) in ListMemoryTests.next }
            // when
            let another = try await memory.list(ListMemoryTests.key(before: 3)) { () throws(StoreError) in
                ListMemoryTests.empty
            }
            // then
            #expect(another == ListMemoryTests.empty)
        }

        @Test func testThatItIsReadAgainOnceSomethingIsStored() async throws {
            // given
            let memory = ListMemory()
            _ = try await memory.list(ListMemoryTests.key()) { () throws(StoreError) in ListMemoryTests.next }
            // when
            memory.forget()
            // then
            let again = try await memory.list(ListMemoryTests.key()) { () throws(StoreError) in ListMemoryTests.empty }
            #expect(again == ListMemoryTests.empty)
        }
    }

    @Test func testThatWhatWasReadWhileSomethingWasStoredIsNotKept() async throws {
        // given
        let memory = ListMemory()
        // when
        let before = try await Self.list(memory) { () throws(StoreError) in
            memory.forget()
            return Self.next
        }
        // then
        #expect(before == Self.next)
        #expect(try await Self.list(memory) { () throws(StoreError) in Self.empty } == Self.empty)
    }

    private static func list(
        _ memory: ListMemory, _ read: () async throws(StoreError) -> Page<IntegrationOutline>
    ) async throws(StoreError) -> Page<IntegrationOutline> { try await memory.list(key(), read: read) }

    @Test func testThatItKeepsNeitherLongListsNorMany() async throws {
        // given
        let memory = ListMemory()
        // when
        _ = try await memory.list(Self.key(ListMemory.maximumLimit + 1)) { () throws(StoreError) in Self.next }
        for cursor in 0...Int64(ListMemory.maximumLists) {
            _ = try await memory.list(Self.key(before: cursor)) { () throws(StoreError) in Self.next }
        }
        // then: the long one and the last one are read again, those before are not
        let long = try await memory.list(Self.key(ListMemory.maximumLimit + 1)) { () throws(StoreError) in Self.empty }
        var kept = 0
        for cursor in 0...Int64(ListMemory.maximumLists) {
            let list = try await memory.list(Self.key(before: cursor)) { () throws(StoreError) in Self.empty }
            kept += list == Self.next ? 1 : 0
        }
        #expect(long == Self.empty)
        #expect(kept == ListMemory.maximumLists)
    }

    /// Each change that a list shows, as soon as whoever made it goes on.
    @Test func testThatAListShowsWhatWasStored() async throws {
        try await withStore { fixture in
            #expect(try await fixture.store.integrations().items.isEmpty)
            let id = try await fixture.queue().id
            #expect(try await fixture.store.integrations().items.map(\.state) == [.queued])
            try await fixture.store.apply(.started, to: id, at: time(2))
            #expect(try await fixture.store.integrations().items.map(\.state) == [.running(.preparing)])
            try await fixture.store.apply(.completed(.succeeded, triggerFailed: false), to: id, at: time(3))
            #expect(try await fixture.store.integrations().items.map(\.state.verdict) == [.succeeded])
        }
    }

    @Test func testThatAClosedStoreKnowsNoList() async throws {
        try await withStore { fixture in
            _ = try await fixture.store.integrations()
            try fixture.store.close()
            await #expect(throws: StoreError.self) { try await fixture.store.integrations() }
        }
    }

    /// Who watches is told after the commit, and must not be shown what was before it.
    @Test func testThatWhoIsToldOfAChangeIsShownIt() async throws {
        try await withStore { fixture in
            // given
            var changes = fixture.store.changes().makeAsyncIterator()
            for number in 1...50 {
                _ = try await fixture.store.integrations()
                // when
                async let queued = fixture.queue(number)
                _ = await changes.next()
                // then
                #expect(try await fixture.store.integrations(limit: 1).items.first?.id.number == number)
                _ = try await queued
            }
        }
    }
}
