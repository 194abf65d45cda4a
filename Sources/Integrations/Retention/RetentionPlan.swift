package import Model
import Settings
package import Storage

/// Decides which integrations of one bot are kept and which are removed, each with its reason. It depends only on stored values.
package struct RetentionPlan: Sendable {
    /// One integration, and the decision on it.
    package struct Item: Sendable {
        package var row: RetentionRow
        package var goes: Bool
        /// The text after `removed:` or `kept:`.
        package var reason: String
    }

    /// The integrations, newest first.
    package private(set) var items: [Item]

    /// - Parameters:
    ///   - rows: The integrations, newest first.
    ///   - time: The time for the computation of ages; `nil` to ignore ages.
    package init(_ rows: [RetentionRow], keeping retention: Retention, at time: Timestamp?) {
        items = rows.map { row in
            let reason = row.holder ?? (retention.isAnything ? "within the limits" : "it has no limit")
            return Item(row: row, goes: false, reason: reason)
        }
        if let most = retention.integrations?.value {
            let reason = "more than the \(most) newest"
            for place in items.indices.dropFirst(Int(clamping: most)) { take(place, reason) }
        }
        if let most = retention.age?.value, let time { takeOld(most, at: time) }
        if let most = retention.bytes?.value {
            take(downTo: most, "more than \(RetentionText.print(bytes: most)) of files") { $0.bytes }
        }
        if let most = retention.files?.value {
            take(downTo: most, "more than \(RetentionText.print(files: most)) files") { $0.files }
        }
    }

    /// Returns the plan without the removals for which `stays` is true, because someone took those integrations up meanwhile.
    package func keeping(_ stays: (Item) -> Bool) -> RetentionPlan {
        var plan = self
        for place in items.indices where items[place].goes && stays(items[place]) {
            plan.items[place].goes = false
            plan.items[place].reason = "another process resumed it meanwhile"
        }
        return plan
    }

    private mutating func take(_ place: Int, _ reason: String) {
        guard !items[place].goes, items[place].row.holder == nil else { return }
        items[place].goes = true
        items[place].reason = reason
    }

    /// Removes integrations that are too old. If the clock was set back for a while, the integrations of that time do not become old: each counts as
    /// at least as new as those before it.
    private mutating func takeOld(_ seconds: Int64, at time: Timestamp) {
        var newest: Timestamp?
        for place in items.indices.reversed() {
            let end = max(newest ?? items[place].row.at, items[place].row.at)
            newest = end
            if time - end > .seconds(seconds) { take(place, "older than \(Self.age(seconds))") }
        }
    }

    /// Removes the oldest integrations until the rest fits. Held integrations do not count, because published versions alone could otherwise leave no
    /// room for the rest. Integrations without files are kept, because their removal would free no space.
    private mutating func take(downTo most: Int64, _ reason: String, _ size: (DiskUse) -> Int64) {
        var total = items.reduce(Int64(0)) { sum, item in
            item.goes || item.row.holder != nil ? sum : .clampedSum(sum, size(item.row.disk ?? DiskUse()))
        }
        for place in items.indices.reversed() where total > most && !items[place].goes {
            let freed = size(items[place].row.disk ?? DiskUse())
            guard freed > 0 else { continue }
            take(place, reason)
            if items[place].goes { total -= freed }
        }
    }

    private static func age(_ seconds: Int64) -> String {
        seconds % 86_400 == 0 ? "\(seconds / 86_400)d" : "\(seconds / 3600)h"
    }
}
