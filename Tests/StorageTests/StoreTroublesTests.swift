import GRDB
import Glibc
import Model
import TestSupport
import Testing

@testable import Storage

/// What the store knows of troubles that an operator hears of.
@Suite struct StoreTroublesTests {
    @Test(
        .proves(
            .operating, "A database that cannot be written is known from the first failed write until a write succeeds"),
        .smallDisk)
    func testThatAFullDiskIsKnownUntilAWriteSucceeds() async throws {
        try await withTemporaryDirectory { directory in
            let disk = try directory.makeDirectory("disk")
            try await SmallDisk.mounted(on: disk, size: "2m") {
                // given
                let store = try Store.open(path: disk + "/martlet.sqlite")
                try await store.probeWriting(at: time(1))
                #expect(store.writeTrouble == nil)
                // when
                try SmallDisk.fill(with: disk + "/full")
                var code: StoreError.Code?
                for number in 0..<2000 where code == nil {
                    do throws(StoreError) { try await store.probeWriting(at: time(Int64(number))) } catch {
                        code = error.code
                    }
                }
                // then
                #expect(code == .full)
                #expect(store.writeTrouble?.code == .full)
                // when
                try #require(unlink(disk + "/full") == 0)
                try await store.probeWriting(at: time(2))
                // then
                #expect(store.writeTrouble == nil)
                try store.close()
            }
        }
    }

    @Test func testThatDestinationsThatFailForAnHourOrAreGivenUpAreListed() async throws {
        try await withStore { fixture in
            // given
            func message(_ id: Int, _ destination: String, _ state: String, failedAt: Int64?) async throws {
                try await fixture.store.writer.write("insert") { transaction in
                    try transaction.db.change(
                        """
                        INSERT INTO outbox (id, kind, destination, account, subject, is_first, bot, content, state, next_at, note,
                            created_at, failed_at)
                        VALUES (?, 'webhook', ?, '', ?, 1, 'kit', '{}', ?, 0, 'refused', 1, ?)
                        """, [id, destination, "\(id)", state, failedAt])
                }
            }
            try await message(1, "slow.example", "waiting", failedAt: 1000)
            try await message(2, "new.example", "waiting", failedAt: 9000)
            try await message(3, "gone.example", "given-up", failedAt: 1000)
            try await message(4, "mended.example", "given-up", failedAt: 1000)
            try await message(5, "mended.example", "sent", failedAt: nil)
            // when
            let failing = try await fixture.store.failingDestinations(since: Timestamp(millisecondsSinceEpoch: 5000))
            // then
            #expect(failing.map(\.name) == ["slow.example", "gone.example"])
            #expect(failing.map(\.isGivenUp) == [false, true])
            #expect(failing.allSatisfy { $0.reason == "refused" && $0.bots == [Name(nearest: "kit")] })
        }
    }
}
