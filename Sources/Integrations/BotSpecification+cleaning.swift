package import Model

extension BotSpecification.Clean {
    /// Whether a workspace is emptied before the next checkout.
    /// - Parameter cleaned: When it was last emptied. Nothing: there is no record of it, since the workspace is new or was made
    ///   by other means. Emptying is safe, so an interval is then over; it also is when the record is of a time to come,
    ///   because the machine's clock was set back, and that record would hold for as long as the clock was wrong.
    package func isDue(cleaned: Timestamp?, now: Timestamp) -> Bool {
        let interval: Duration
        switch self {
        case .never: return false
        case .always: return true
        case .daily: interval = .seconds(86_400)
        case .weekly: interval = .seconds(7 * 86_400)
        }
        guard let cleaned, cleaned <= now else { return true }
        return now - cleaned >= interval
    }
}
