import GRDB
import Model
import TestSupport
import Testing

@testable import Storage

@Suite struct StoreLogPlacesTests {
    private static let places = [
        LogPlace(key: .init(subject: "unused 'x'", path: "Sources/a.swift", line: 7), category: .warning, line: 3),
        LogPlace(key: .init(test: "Suite/test0"), category: .testFailure, line: 512),
    ]

    @Test(.proves(.reports, "Findings and failing tests link to their line of the log, which marks them"))
    func testThatTheLinesOfAnAttemptAreKept() async throws {
        try await withStore { fixture in
            // given
            let id = try await StoreResultsTests.attempt(fixture)
            var results = try StoreResultsTests.results()
            results.logPlaces = Self.places.reversed()
            // when
            try await fixture.store.storeResults(results, of: id, at: time(40))
            // then
            #expect(try await fixture.store.logPlaces(of: id) == Self.places)
            #expect(try await fixture.store.logPlaces(of: id.integration) == [id: Self.places])
            #expect(try await fixture.store.logPlaces(of: id.integration, attempt: 2) == [:])
        }
    }

    @Test func testThatThoseOfManyResultsAreKeptAndBounded() async throws {
        try await withStore { fixture in
            // given: more results than one transaction takes
            let id = try await StoreResultsTests.attempt(fixture)
            var results = try StoreResultsTests.results(2000)
            results.logPlaces = (1...1500).map {
                LogPlace(key: .init(test: "Suite/test\($0)"), category: .testFailure, line: $0)
            }
            // when
            try await fixture.store.storeResults(results, of: id, at: time(40))
            // then
            #expect(try await fixture.store.logPlaces(of: id).count == LogPlace.maximumCount)
        }
    }
}
