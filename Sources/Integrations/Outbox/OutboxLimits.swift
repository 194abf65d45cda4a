/// How many rows of the outbox stay.
package struct OutboxLimits: Sendable, Hashable {
    /// Messages that wait for one destination that fails; of more the oldest are given up. A message is a row of some 600 bytes.
    package var waitingRows = 10_000
    /// Of what came to its end.
    package var keptRows = 10_000
    package var keptTime = Duration.seconds(14 * 86_400)
    /// Old rows are removed after each so many messages.
    package var trimInterval = 500

    package init() {}
}
