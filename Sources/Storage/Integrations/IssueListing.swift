package import Model

/// Part of an integration's issues in page order, with the counts of all of them.
package struct IssueListing: Hashable, Sendable {
    /// The number of an integration's issues of one status and category.
    package struct Count: Hashable, Sendable {
        package var status: Issue.Status
        package var category: Finding.Category
        package var count: Int
    }

    /// The counts in the order of the listing, without zero counts.
    package var counts: [Count]
    package var items: [Issue]

    /// The number of all issues of the integration.
    package var total: Int { counts.reduce(0) { $0 + $1.count } }

    /// Returns the number of all issues with a status.
    package func count(of status: Issue.Status) -> Int {
        counts.reduce(0) { $0 + ($1.status == status ? $1.count : 0) }
    }
}
