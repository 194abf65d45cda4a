import Foundation
import GRDB
import Model
import TestSupport
import Testing

@testable import Storage

@Suite struct StoreCoverageTests {
    static func file(_ path: String, _ covered: Int, _ total: Int) -> Coverage.File {
        Coverage.File(path: path, lines: .init(covered: covered, total: total))
    }

    /// Stores an integration that ends with this coverage in one configuration; without any if it is empty.
    @discardableResult
    private func integrate(
        _ fixture: StoreFixture, _ coverage: Coverage?, job: String = "debug", ref: RefName = .main,
        verdict: Verdict = .succeeded, tests: Int = 0
    ) async throws -> IntegrationID {
        let store = fixture.store
        let id = try await fixture.queue(ref: ref).id
        try await store.apply(.started, to: id, at: time(20))
        let attempt = try await store.addAttempt(to: id, job: name(job), at: time(21)).id
        try await store.storeResults(
            AttemptResults(
                tests: StoreTestRecordsTests.tests(0..<tests), coverage: coverage, analysis: "clean", tested: "all",
                verdict: verdict), of: attempt, at: time(25))
        try await store.apply(.completed(verdict, triggerFailed: false), to: id, at: time(30))
        return id
    }

    /// A few results are one transaction, many are several.
    @Test(
        .proves(
            .reports,
            "Coverage is stored for each attempt and shown beside the configuration's last one: on the page, in the API and by `martlet show`"
        ), arguments: [0, 300])
    func testThatItIsReadAsItWasStored(_ tests: Int) async throws {
        try await withStore { fixture in
            // given
            let coverage = Coverage(
                files: (0..<3000).map { number in
                    Coverage.File(
                        path: "Sources/Kit/File\(number)é.swift", lines: .init(covered: number, total: number * 2),
                        functions: number % 3 == 0 ? nil : .init(covered: 0, total: number),
                        branches: number % 2 == 0 ? nil : .init(covered: 1, total: 1))
                })
            // when
            let id = try await integrate(fixture, coverage, tests: tests)
            // then
            let read = try await fixture.store.coverage(of: id)
            #expect(read.map(\.coverage) == [coverage])
            #expect(read.first?.before == nil)
            let size = try await fixture.store.read("size") {
                try Int.fetchOne($0, sql: "SELECT length(record) FROM coverage") ?? 0
            }
            #expect(size < 3000 * 10)
        }
    }

    @Test(
        .proves(
            .reports,
            "Coverage is stored for each attempt and shown beside the configuration's last one: on the page, in the API and by `martlet show`"
        ))
    func testThatItIsComparedWithTheConfigurationsNewestComparableOneBefore() async throws {
        try await withStore { fixture in
            // given
            let store = fixture.store
            let first = try await integrate(fixture, Coverage(files: [Self.file("a", 5, 10), Self.file("b", 1, 1)]))
            try await integrate(fixture, Coverage(files: [Self.file("a", 1, 10)]), verdict: .internalError)
            try await integrate(fixture, Coverage(files: [Self.file("a", 2, 10)]), job: "release")
            try await integrate(fixture, Coverage(files: [Self.file("a", 3, 10)]), ref: .line)
            try await integrate(fixture, nil)
            // when
            let id = try await integrate(fixture, Coverage(files: [Self.file("a", 8, 10), Self.file("c", 0, 2)]))
            // then
            let stored = try #require(try await store.coverage(of: id).first)
            #expect(stored.before?.integration == first)
            let delta = try #require(stored.delta)
            #expect(delta.before == .init(covered: 6, total: 11))
            #expect(delta.after == .init(covered: 8, total: 12))
            #expect(delta.files.map(\.path) == ["a", "b", "c"])
            #expect(try await store.coverage(of: id, configuration: name("release")) == [])
            #expect(try await store.coverage(of: id, attempt: 2) == [])
        }
    }

    @Test func testThatItGoesWithItsIntegration() async throws {
        try await withStore { fixture in
            // given
            let coverage = Coverage(files: [Self.file("a", 5, 10)])
            try await integrate(fixture, coverage)
            let id = try await integrate(fixture, coverage)
            // when
            try await fixture.store.removeIntegrations(of: name("kit"), below: id.number)
            // then
            #expect(try await fixture.store.coverage(of: id).first?.before == nil)
            #expect(try await fixture.damage() == [])
        }
    }

    @Test(
        .proves(
            .reports,
            "Coverage is stored for each attempt and shown beside the configuration's last one: on the page, in the API and by `martlet show`"
        ))
    func testThatADamagedOneIsSaidAndNeverATrap() async throws {
        try await withStore { fixture in
            // given
            let files = (0..<40).map { Self.file("Sources/File\($0)", $0, 40) }
            let id = try await integrate(fixture, Coverage(files: files))
            let bytes = try await fixture.store.read("read") {
                [UInt8](try Data.fetchOne($0, sql: "SELECT record FROM coverage") ?? Data())
            }
            let zstd = try Zstd()
            #expect(try CoverageRecord.coverage(bytes, zstd).files.count == 40)
            // when: each byte is changed, and the file is cut at each place
            for place in bytes.indices {
                for value in [0, 0x7f, 0xff, bytes[place] ^ 1] as [UInt8] {
                    var changed = bytes
                    changed[place] = value
                    _ = try? CoverageRecord.coverage(changed, zstd)
                }
                #expect(throws: RecordReader.Damaged.self) {
                    try CoverageRecord.coverage(Array(bytes[..<place]), zstd)
                }
            }
            try await fixture.store.writer.write("damage") {
                try $0.db.execute(sql: "UPDATE coverage SET record = x'00'")
            }
            // then
            await expectFailure(.corrupt, "coverage") { try await fixture.store.coverage(of: id) }
        }
    }
}
