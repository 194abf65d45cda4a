import API
import Integrations
import Model
import Storage

extension API.Delivery {
    init(_ delivery: DeliveryRecord) {
        self.init(
            id: delivery.id, source: delivery.source.rawValue, hook: delivery.hook, event: delivery.event,
            received: API.Time(delivery.receivedAt), fate: delivery.outcome.rawValue, reason: delivery.reason,
            refUpdates: delivery.refUpdates.map { API.RefUpdate($0) })
    }
}

extension API.RefUpdate {
    init(_ update: RefUpdateRecord) {
        self.init(
            ref: update.ref.description, generation: update.generation, before: update.before?.description,
            after: update.after?.description, fate: update.outcome.rawValue, reason: update.reason,
            integrations: update.integrations.map(\.description))
    }
}

extension API.PullRequest {
    init(_ state: PullRequestState) {
        let pull = state.pull
        self.init(
            number: pull.number, base: pull.base.description, head: pull.head?.description,
            source: pull.source?.description, trusted: pull.source != nil, state: state.word.rawValue,
            reason: state.reason, integration: state.integration?.id.description)
    }
}

extension API.OutboxMessage {
    init(_ message: Storage.OutboxMessage) {
        self.init(
            id: message.id, kind: message.kind.rawValue, destination: message.destination,
            bot: message.bot.description, integration: message.integration?.description,
            job: message.job?.description, about: OutboxText.about(message),
            commit: message.content.commit.description, ref: message.content.ref.description,
            state: message.state.rawValue, tries: message.tries,
            next: API.Time(message.state == .waiting ? message.nextAt : nil), note: message.note,
            created: API.Time(message.createdAt), ended: API.Time(message.endedAt))
    }
}

extension API.Token {
    init(_ token: TokenRecord) {
        self.init(
            name: token.name, role: token.role.rawValue, bots: token.bots?.texts,
            created: API.Time(token.createdAt), revoked: API.Time(token.revokedAt))
    }
}

extension API.PruneReport {
    /// The most items of one answer, about 150 bytes each. Items to remove are listed first. The totals count all items.
    static let maximumItems = 20_000

    init(_ report: RetentionReport) {
        let (going, staying) = (report.items.filter(\.goes), report.items.filter { !$0.goes })
        let shown = (going + staying).prefix(Self.maximumItems)
        self.init(
            done: report.isDone,
            // Ages are counted up to this time. It is earlier than the current time if the clock has jumped.
            countedTo: API.Time(report.countedTo), items: shown.map { Item($0) },
            omitted: report.items.count - shown.count, removes: Total(going), keeps: Total(staying),
            versions: report.versions.map {
                Product(product: $0.product.description, versions: $0.count, bytes: $0.bytes)
            })
    }
}

extension API.PruneReport.Item {
    init(_ item: RetentionPlan.Item) {
        self.init(
            integration: item.row.id.description, goes: item.goes, reason: item.reason,
            bytes: item.row.disk?.bytes ?? 0, files: item.row.disk?.files ?? 0)
    }
}

extension API.PruneReport.Total {
    init(_ items: [RetentionPlan.Item]) {
        self.init(
            integrations: items.count, bytes: items.reduce(0) { Int64.clampedSum($0, $1.row.disk?.bytes ?? 0) },
            files: items.reduce(0) { Int64.clampedSum($0, $1.row.disk?.files ?? 0) })
    }
}
