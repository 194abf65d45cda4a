package import Model

/// Part of an integration's issues, in the order in which pages show them, with the counts of all.
package struct IssueListing: Hashable, Sendable {
    /// How many issues of a status and a category the integration has.
    package struct Count: Hashable, Sendable {
        package var status: Issue.Status
        package var category: Finding.Category
        package var count: Int
    }

    /// In the order of the listing, without those that are 0.
    package var counts: [Count]
    package var items: [Issue]

    /// All issues of the integration.
    package var total: Int { counts.reduce(0) { $0 + $1.count } }

    /// All of a status.
    package func count(of status: Issue.Status) -> Int {
        counts.reduce(0) { $0 + ($1.status == status ? $1.count : 0) }
    }
}
