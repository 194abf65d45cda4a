import GRDB
import Model
import TestSupport
import Testing

@testable import Storage

@Suite struct StoreAuditTests {
    private func entry(_ action: AuditAction, by actor: String = "ann", bot: Name? = nil) -> AuditEntry {
        AuditEntry(action, actor: actor, address: "192.0.2.7", bot: bot, subject: "kit#1", detail: "main")
    }

    @Test func testThatItIsListedNewestFirstAndByWhatItIsAbout() async throws {
        try await withStore { fixture in
            // given
            let (store, kit) = (fixture.store, Name(nearest: "kit"))
            let old = try await store.audit().items.count
            try await store.record(entry(.integrated, bot: kit), at: time(1))
            try await store.record(entry(.tokenCreated, by: "bob"), at: time(2))
            try await store.record(entry(.canceled, bot: kit), at: time(3))
            // when
            let first = try await store.audit(limit: 2)
            // then
            #expect(first.items.map(\.entry.action) == [.canceled, .tokenCreated])
            #expect(first.items[0].entry == entry(.canceled, bot: kit))
            let second = try await store.audit(limit: 2, before: first.next)
            #expect(second.items.first?.entry.action == .integrated)
            #expect(try await store.audit(AuditFilter(actor: "bob")).items.count == 1)
            #expect(try await store.audit(AuditFilter(action: .canceled)).items.map(\.at) == [time(3)])
            #expect(try await store.audit(AuditFilter(bot: kit)).items.count == 2 + old)
        }
    }

    @Test(
        .proves(
            .operating,
            "The audit is append-only: the database itself refuses to change a row, and to remove any but the oldest"))
    func testThatTheDatabaseRefusesToChangeARowOrToRemoveALaterOne() async throws {
        try await withStore { fixture in
            // given
            for number in 1...3 { try await fixture.store.record(entry(.integrated), at: time(Int64(number))) }
            func change(_ sql: String) async throws(StoreError) {
                try await fixture.store.writer.write("change the audit") { try $0.db.change(sql, []) }
            }
            let before = try await fixture.store.audit()
            // when
            await expectRejection(StoreError.self, \.code, .constraint) {
                try await change("UPDATE audit SET actor = 'bob'")
            }
            await expectRejection(StoreError.self, \.code, .constraint) {
                try await change("DELETE FROM audit WHERE id = (SELECT max(id) FROM audit)")
            }
            await expectRejection(StoreError.self, \.code, .constraint) {
                try await change(
                    "INSERT OR REPLACE INTO audit (id, at, action, actor, subject) SELECT max(id), 0, 'x', 'x', 'x' FROM audit"
                )
            }
            // then
            #expect(try await fixture.store.audit() == before)
        }
    }

    @Test(
        .proves(
            .operating,
            "The audit has a retention of its own: 400 days unless the settings say otherwise, and at most 200,000 rows"
        ))
    func testThatOldRowsGoAndAWrongClockRemovesNoOthers() async throws {
        try await withStore { fixture in
            // given: the second row was written while the clock was far ahead
            let store = fixture.store
            _ = try await store.trimAudit(before: time(1_000_000))
            for at: Int64 in [1, 900, 2, 3, 1000] { try await store.record(entry(.integrated), at: time(at)) }
            // when
            #expect(try await store.trimAudit(before: time(500)) == 1)
            // then: what follows it stays with it
            #expect(try await store.audit().items.map(\.at) == [time(1000), time(3), time(2), time(900)])
            // when
            #expect(try await store.trimAudit(before: time(0), keeping: 2) == 2)
            // then
            #expect(try await store.audit().items.map(\.at) == [time(1000), time(3)])
            #expect(AuditEntry.usualAge == .seconds(400 * 86_400) && AuditLimits.maximumRows == 200_000)
        }
    }

    @Test func testThatManyRowsAreRemovedInBatches() async throws {
        try await withStore { fixture in
            // given
            let store = fixture.store
            _ = try await store.trimAudit(before: time(1_000_000))
            for number in 0..<250 { try await store.record(entry(.integrated), at: time(Int64(number))) }
            // when
            let count = try await store.trimAudit(before: time(240))
            // then
            #expect(count == 240)
            #expect(try await store.audit().items.count == 10)
        }
    }

    @Test(.proves(.operating, "Bot files that are taken up, changed or gone are in the audit"))
    func testThatBotFilesThatAreTakenUpAreRecorded() async throws {
        try await withStore { fixture in
            // given
            let store = fixture.store
            let known = try await store.specifications()
            let old = try await store.audit(AuditFilter(action: .botFile)).items.count
            // when
            try await store.register(known, at: time(50))
            #expect(try await store.audit(AuditFilter(action: .botFile)).items.count == old, "nothing changed")
            try await store.register([], at: time(60))
            try await store.register(known, at: time(70))
            // then
            let rows = try await store.audit(AuditFilter(bot: Name(nearest: "kit"), action: .botFile)).items
            #expect(rows.prefix(2).map(\.entry.detail) == ["its file is back", "its file is gone"])
            #expect(rows.allSatisfy { $0.entry.actor == AuditEntry.service && $0.entry.address == nil })
        }
    }

    @Test func testThatATokenAndItsRowAreStoredTogether() async throws {
        try await withStore { fixture in
            // given
            let store = fixture.store
            let made = AuditEntry(.tokenCreated, actor: "ann", subject: "ci")
            try await store.createToken(name: "ci", role: .viewer, hash: "a", at: time(1), audit: made)
            // when: the name is taken, so no token is made
            await expectRejection(StoreError.self, \.code, .exists) {
                try await store.createToken(name: "ci", role: .viewer, hash: "b", at: time(2), audit: made)
            }
            #expect(
                try await !store.revokeToken(
                    name: "none", at: time(3), audit: AuditEntry(.tokenRevoked, actor: "ann", subject: "none")))
            // then
            #expect(try await store.audit(AuditFilter(actor: "ann")).items.map(\.entry) == [made])
        }
    }
}
