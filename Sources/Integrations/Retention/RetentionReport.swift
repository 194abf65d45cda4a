package import Model

/// The integrations that retention keeps and removes, with the reasons.
package struct RetentionReport: Sendable {
    package var items: [RetentionPlan.Item] = []
    /// The published versions of each product, with the size of their files. None is ever removed.
    package var versions: [(product: Name, count: Int, bytes: Int64)] = []
    /// The time up to which ages are counted; `nil` if the clock is not set.
    package var countedTo: Timestamp?
    package var isDone: Bool

    package init(isDone: Bool) { self.isDone = isDone }
}
