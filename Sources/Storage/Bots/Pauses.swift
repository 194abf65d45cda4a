package import Basics
import GRDB
package import Model
import Synchronization

/// A user's order that nothing new starts. Events are stored meanwhile, and queue integrations.
package struct Pause: Hashable, Sendable {
    /// What does not start.
    package enum Scope: Hashable, Sendable {
        /// Integrations of every bot.
        case service
        /// Integrations of every bot, until the machine has restarted.
        case drain
        /// Integrations of refs with a publish or upload trigger, and these triggers.
        case publishing
        /// Integrations of one bot.
        case bot(Name)
    }

    /// The most bytes of a reason.
    package static let maximumReasonBytes = 1000

    package var scope: Scope
    /// Why, in the user's words; `nil` if the user did not say.
    package var reason: String?
    package var person: String
    package var at: Timestamp

    package init(_ scope: Scope, reason: String?, person: String, at: Timestamp) {
        self.scope = scope
        self.reason = reason
        self.person = person
        self.at = at
    }

    /// The bot that alone is paused; `nil` for a pause of the whole service.
    package var bot: Name? {
        guard case .bot(let bot) = scope else { return nil }
        return bot
    }

    /// Such as `paused by ann: the disk is replaced`.
    package var sentence: String {
        let word =
            switch scope {
            case .service, .bot: "paused"
            case .drain: "drained"
            case .publishing: "publishing is held"
            }
        return "\(word) by \(person)" + (reason.map { ": \($0)" } ?? "")
    }
}

/// Everything that is paused.
package struct Pauses: Hashable, Sendable {
    /// The pause of the whole service.
    package var service: Pause?
    package var drain: Pause?
    package var publishing: Pause?
    package var bots: [Name: Pause]

    package init(_ all: [Pause] = []) {
        bots = [:]
        for pause in all {
            switch pause.scope {
            case .service: service = pause
            case .drain: drain = pause
            case .publishing: publishing = pause
            case .bot(let bot): bots[bot] = pause
            }
        }
    }

    /// All pauses: those of the service first, then the bots' in order of name.
    package var all: [Pause] {
        [service, drain, publishing].compactMap(\.self) + bots.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Returns the pause because of which no integration of a bot starts; `nil` if they start.
    /// - Parameter isRelease: Whether the integration may publish or upload, by its bot's triggers.
    package func holding(_ bot: Name, isRelease: Bool = false) -> Pause? {
        drain ?? service ?? bots[bot] ?? (isRelease ? publishing : nil)
    }
}

extension Store {
    /// Stores a pause. It replaces an earlier one of the same scope.
    /// - Parameter boot: The machine's boot, with which a drain ends. A drain of an unknown boot ends with the next start.
    /// - Throws: `notFound` for a bot that never existed; `tooLarge` for a reason that is empty or too long.
    package func pause(_ pause: Pause, boot: MachineBoot = MachineBoot(id: nil)) async throws(StoreError) {
        let operation = "store a pause"
        if let reason = pause.reason {
            guard !reason.isEmpty, reason.utf8.count <= Pause.maximumReasonBytes else {
                throw StoreError(
                    code: .tooLarge, operation: operation,
                    message: "a reason has 1 to \(Pause.maximumReasonBytes) bytes; write another")
            }
        }
        try await writer.write(operation) { transaction in
            let db = transaction.db
            let bot = try Self.pausedRow(pause.scope, db)
            try Self.deletePause(pause.scope, bot, db)
            try db.change(
                "INSERT INTO pauses (kind, bot, boot, reason, person, at) VALUES (?, ?, ?, ?, ?, ?)",
                [
                    pause.scope.kind, bot, pause.scope == .drain ? boot.id : nil, pause.reason, pause.person.kept,
                    pause.at.millisecondsSinceEpoch,
                ])
            transaction.changed(.bots)
        }
    }

    /// Ends a pause.
    /// - Returns: Whether there was one.
    /// - Throws: `notFound` for a bot that never existed.
    package func resume(_ scope: Pause.Scope) async throws(StoreError) -> Bool {
        try await writer.write("end a pause") { transaction in
            let db = transaction.db
            try Self.deletePause(scope, try Self.pausedRow(scope, db), db)
            guard db.changesCount > 0 else { return false }
            transaction.changed(.bots)
            return true
        }
    }

    /// Ends a drain that was asked for in another boot of the machine.
    /// - Returns: Whether there was one.
    package func endDrain(before boot: MachineBoot) async throws(StoreError) -> Bool {
        try await writer.write("end the drain of an earlier boot") { transaction in
            // A boot that the kernel does not state equals no other.
            try transaction.db.change(
                "DELETE FROM pauses WHERE kind = 'drain' AND (boot IS NULL OR ?1 IS NULL OR boot <> ?1)", [boot.id])
            guard transaction.db.changesCount > 0 else { return false }
            transaction.changed(.bots)
            return true
        }
    }

    /// Returns everything that is paused. It is cached until bots or versions change, since every page and every choice of the scheduler needs it.
    package func pauses() async throws(StoreError) -> Pauses {
        // The stamp is read before the rows, so that a change made meanwhile causes the next call to read them again.
        let stamp = publishings
        if let kept = knownPauses.withLock({ $0 }), kept.stamp == stamp { return kept.pauses }
        let pauses = try await read("read what is paused") { db in
            Pauses(
                try db.all(
                    "SELECT kind, reason, person, at, name FROM pauses LEFT JOIN bots ON bots.id = pauses.bot"
                ) { row in
                    let bot = try row.optional("name") { Name($0) }
                    return Pause(
                        try row.value("kind") { Pause.Scope(kind: $0, bot: bot) }, reason: try row["reason"],
                        person: try row["person"], at: try row.time("at"))
                })
        }
        knownPauses.withLock { $0 = (stamp, pauses) }
        return pauses
    }

    private static func pausedRow(_ scope: Pause.Scope, _ db: Database) throws -> Int64? {
        guard case .bot(let name) = scope else { return nil }
        let row: Int64? = try db.value(
            "SELECT id FROM bots WHERE name = ? AND deleted_at IS NULL", [name.description])
        guard let row else { throw Refusal.notFound("bot \(name)") }
        return row
    }

    private static func deletePause(_ scope: Pause.Scope, _ bot: Int64?, _ db: Database) throws {
        try db.change("DELETE FROM pauses WHERE kind = ? AND bot IS ?", [scope.kind, bot])
    }
}

extension Pause.Scope {
    fileprivate var kind: String {
        switch self {
        case .service, .bot: "pause"
        case .drain: "drain"
        case .publishing: "publishing"
        }
    }

    fileprivate init?(kind: String, bot: Name?) {
        switch (kind, bot) {
        case ("pause", nil): self = .service
        case ("pause", let bot?): self = .bot(bot)
        case ("drain", nil): self = .drain
        case ("publishing", nil): self = .publishing
        default: return nil
        }
    }
}
