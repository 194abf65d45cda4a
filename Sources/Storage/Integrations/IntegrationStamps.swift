import Model

/// The order of the integrations' last changes. Values computed from an integration's rows are valid while its stamp is the same.
struct IntegrationStamps {
    /// The most integrations, and the most bots, that are remembered. When there are more, all of them count as changed.
    static let maximum = 4096

    private var last: UInt64 = 0
    /// The stamp of everything that is not remembered.
    private var floor: UInt64 = 0
    private var integrations: [IntegrationID: UInt64] = [:]
    private var silences: [Name: UInt64] = [:]

    /// Records a committed change.
    mutating func note(_ change: StoreChange) {
        last += 1
        switch change {
        case .integration(let id), .queued(let id), .completed(let id): integrations[id] = last
        case .silences(let bot): silences[bot] = last
        case .bots, .repository, .delivery, .version, .outbox, .tokens: break
        }
        if integrations.count > Self.maximum || silences.count > Self.maximum {
            (integrations, silences, floor) = ([:], [:], last)
        }
    }

    /// See `Store.stamp(of:)`.
    func stamp(of id: IntegrationID) -> UInt64 {
        max(integrations[id] ?? floor, silences[id.bot] ?? floor)
    }
}
