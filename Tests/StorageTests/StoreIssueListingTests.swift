import Model
import TestSupport
import Testing

@testable import Storage

@Suite struct StoreIssueListingTests {
    private static func issue(
        _ number: Int, _ status: Model.Issue.Status, _ category: Finding.Category, _ path: String, line: Int,
        in configurations: [String] = ["debug"]
    ) throws -> Model.Issue {
        Model.Issue(
            fingerprint: "f\(number)", status: status,
            finding: Finding(category: category, message: "m\(number)", path: path, line: line), age: 1,
            configurations: try configurations.map { try name($0) })
    }

    @Test(.proves(.web, "Pages of 200 issues or 1,000 tests with links to the rest and the counts of all"))
    func testThatAPartHasItsIssuesInOrderAndTheCountsOfAll() async throws {
        try await withStore { fixture in
            // given
            let id = try await fixture.queue().id
            let issues = [
                try Self.issue(1, .silenced, .warning, "a.swift", line: 1),
                try Self.issue(2, .new, .warning, "b.swift", line: 10),
                try Self.issue(3, .new, .warning, "b.swift", line: 9),
                try Self.issue(4, .new, .warning, "a.swift", line: 30),
                try Self.issue(5, .new, .error, "z.swift", line: 1),
                try Self.issue(6, .unresolved, .warning, "a.swift", line: 1),
                try Self.issue(7, .resolved, .error, "a.swift", line: 1),
            ]
            try await fixture.store.completeIssues(of: id, issues: issues, summary: Summary(), at: time(20))
            // when
            let all = try await fixture.store.issueListing(of: id, limit: 200)
            var parts: [String] = []
            for after in stride(from: 0, through: 7, by: 2) {
                let part = try await fixture.store.issueListing(of: id, limit: 2, after: after)
                #expect(part.counts == all.counts && part.total == 7)
                parts.append(part.items.map(\.fingerprint).joined(separator: " "))
            }
            // then: new ones first, errors before warnings, by path and line
            #expect(all.items.map(\.fingerprint) == ["f5", "f4", "f3", "f2", "f6", "f7", "f1"])
            #expect(parts == ["f5 f4", "f3 f2", "f6 f7", "f1"])
            #expect(all.count(of: .new) == 4 && all.count(of: .silenced) == 1)
            #expect(try await fixture.store.issueListing(of: id, limit: 2, after: 7).items.isEmpty)
        }
    }

    @Test func testThatOnlyTheVisibleIssuesAreListed() async throws {
        try await withStore { fixture in
            // given
            let id = try await fixture.queue().id
            #expect(try await fixture.store.issueListing(of: id, limit: 200).total == 0)
            // when: a second set, as by a rerun
            for number in 1...2 {
                try await fixture.store.completeIssues(
                    of: id, issues: [try Self.issue(number, .new, .warning, "a.swift", line: 1)], summary: Summary(),
                    at: time(20))
            }
            // then
            let listing = try await fixture.store.issueListing(of: id, limit: 200)
            #expect(listing.items.map(\.fingerprint) == ["f2"] && listing.total == 1)
        }
    }

    @Test func testThatOpenIssuesAreThoseThatAreNotResolvedInTheirOrder() async throws {
        try await withStore { fixture in
            // given
            let id = try await fixture.queue().id
            let path = "Sources/Kit/AFileWithALongName.swift"
            let issues = [
                try Self.issue(1, .unresolved, .warning, path, line: 9),
                try Self.issue(2, .resolved, .warning, path, line: 1),
                try Self.issue(3, .silenced, .warning, path, line: 5),
                try Self.issue(4, .new, .error, "b.swift", line: 1),
            ]
            #expect(try await fixture.store.openIssues(of: id).isEmpty)
            try await fixture.store.completeIssues(of: id, issues: issues, summary: Summary(), at: time(20))
            // then
            #expect(try await fixture.store.openIssues(of: id) == [issues[0], issues[2], issues[3]])
        }
    }

    @Test func testThatAConfigurationIsSilencedOnceAllItsIssuesAre() async throws {
        try await withStore { fixture in
            // given
            let id = try await fixture.queue().id
            let issues = [
                try Self.issue(1, .silenced, .warning, "a.swift", line: 1, in: ["debug", "release"]),
                try Self.issue(2, .unresolved, .warning, "b.swift", line: 1, in: ["release"]),
                try Self.issue(3, .resolved, .warning, "c.swift", line: 1, in: ["debug"]),
            ]
            try await fixture.store.completeIssues(of: id, issues: issues, summary: Summary(), at: time(20))
            // when
            let silenced = try await fixture.store.silencedConfigurations(
                of: id, among: [name("debug"), name("release"), name("lint")])
            // then
            #expect(silenced == [try name("debug")])
        }
    }
}
