package import Model

extension BotSpecification.Clean {
    /// Whether a workspace is emptied before the next checkout.
    /// - Parameter cleaned: When it was last emptied; `nil` if there is no record, because the workspace is new or was made by other means. Emptying
    ///   is safe, so a missing record means that the interval is over. So does a record in the future, which is due to a clock that was set back and
    ///   would otherwise count as long as the clock is wrong.
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
