/// The limits for the rows of the outbox that are kept.
package struct OutboxLimits: Sendable, Hashable {
    /// The most messages that wait for one failing destination; the oldest ones above that are given up. A message is a row of about 600 bytes.
    package var waitingRows = 10_000
    /// The most messages that are kept after they have ended.
    package var keptRows = 10_000
    package var keptTime = Duration.seconds(14 * 86_400)
    /// The number of ended messages after which old rows are removed.
    package var trimInterval = 500

    package init() {}
}
