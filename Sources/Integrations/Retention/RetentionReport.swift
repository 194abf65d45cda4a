package import Model

/// What retention keeps and removes, and why.
package struct RetentionReport: Sendable {
    package var items: [RetentionPlan.Item] = []
    /// Published versions by product, with what their files take: none is ever removed.
    package var versions: [(product: Name, count: Int, bytes: Int64)] = []
    /// Up to when ages are counted; nothing: the clock is not set.
    package var countedTo: Timestamp?
    package var isDone: Bool

    package init(isDone: Bool) { self.isDone = isDone }
}
