import GRDB
import Model

/// The reasons for keeping integrations of one bot regardless of the retention limits. Use one value per snapshot: it caches what it reads of a ref.
struct RetentionHolders {
    /// The columns of integrations that `holder(of:)` needs.
    static let columns = """
        id, number, run, ref, base, head, pull_request, ref_update, state, coalesce(ended_at, queued_at) AS at, disk_run, disk_bytes,
            disk_files
        """

    /// Which integrations of a ref count.
    private enum Kind {
        case any, judged, judgedPush, green

        var condition: String {
            let judged = "state = 'completed' AND verdict NOT IN ('canceled', 'checkout-error', 'internal-error')"
            return switch self {
            case .any: "1"
            case .judged: judged
            case .judgedPush: judged + " AND ref_update IS NOT NULL"
            case .green:
                "state = 'completed' AND verdict IN ('succeeded', 'warnings', 'analyzer-warnings') AND trigger_failed = 0"
            }
        }
    }

    private struct Branch {
        var exists: Bool
        var newest: Int?
        var newestJudged: Int?
        /// The newest judged integration of a push. An integration that a user requested may be of an older commit.
        var newestJudgedPush: Int?
        var newestGreen: Int?
    }

    private let db: Database
    private let bot: Name
    private let row: Int64
    private let repository: Int64
    private let newest: Int?
    /// The numbers of integrations with messages that wait or are being sent.
    private let told: Set<Int>
    /// The integrations with which open ones are compared; the value is the open integration's number.
    private var compared: [Int: Int] = [:]
    private var branches: [String: Branch] = [:]

    init(bot: Name, row: Int64, repository: Int64, _ db: Database) throws {
        self.db = db
        self.bot = bot
        self.row = row
        self.repository = repository
        newest =
            try db.first(
                "SELECT max(number) FROM integrations WHERE bot = ? AND pull_request IS NULL AND removed_at IS NULL",
                [row]
            ) { try $0[0] as Int? } ?? nil
        told = Set(
            try db.all(
                "SELECT DISTINCT number FROM outbox WHERE bot = ? AND number IS NOT NULL AND state IN ('waiting', 'sending')",
                [bot.description]
            ) { try $0[0] as Int })
        let open: [(number: Int, ref: String)] = try db.all(
            """
            SELECT number, coalesce(base, ref) AS compared FROM integrations INDEXED BY integrations_open
            WHERE bot = ? AND state <> 'completed'
            """, [row]
        ) { (try $0["number"], try $0["compared"]) }
        for one in open {
            guard let before = try newest(.judged, on: one.ref, before: one.number) else { continue }
            compared[before] = one.number
        }
    }

    /// - Parameter stored: A row with `columns`.
    /// - Returns: The reason to keep the integration; `nil` if the limits decide.
    mutating func holder(of stored: StoredRow) throws -> String? {
        let number: Int = try stored["number"]
        let id: Int64 = try stored["id"]
        let state: String = try stored["state"]
        guard state == "completed" else { return "it is \(state)" }
        if let busy = try busy(id) { return busy }
        if let version = try version(of: number) { return "it made \(version)" }
        if told.contains(number) { return "a message about it waits to be sent" }
        if let other = compared[number] { return "\(bot)#\(other) is compared with it" }
        if number == newest { return "the newest of the bot" }
        if let pull = try stored["pull_request"] as Int? { return try holder(ofPull: pull, stored) }
        return try holder(onBranch: try stored["ref"], number, update: try stored["ref_update"])
    }

    private func busy(_ id: Int64) throws -> String? {
        let has: (job: Bool, trigger: Bool)? = try db.first(
            """
            SELECT EXISTS (SELECT 1 FROM attempts WHERE integration = ?1 AND state <> 'processed') AS job,
                EXISTS (SELECT 1 FROM triggers WHERE integration = ?1 AND state = 'running') AS running
            """, [id]
        ) { (try $0["job"], try $0["running"]) }
        if has?.job == true { return "a job of it has not ended" }
        return has?.trigger == true ? "a trigger of it has not ended" : nil
    }

    private func version(of number: Int) throws -> String? {
        try db.first(
            "SELECT product, version FROM versions WHERE integration = ? LIMIT 1", ["\(bot)#\(number)"]
        ) { "\(try $0["product"] as String) \(try $0["version"] as String)" }
    }

    private func holder(ofPull pull: Int, _ stored: StoredRow) throws -> String? {
        let head: String?? = try db.first(
            "SELECT head FROM pull_requests WHERE repository = ? AND number = ? AND is_open = 1", [repository, pull]
        ) { try $0["head"] as String? }
        guard let head else { return try wasScanned() ? nil : "its repository was not scanned yet" }
        if let head, try head == stored["head"] as String? { return "the head of the open pull request \(pull)" }
        let newest: Int? =
            try db.first(
                "SELECT max(number) FROM integrations INDEXED BY integrations_by_pull_request WHERE bot = ? AND pull_request = ?",
                [row, pull]
            ) { try $0[0] as Int? } ?? nil
        return try newest == stored["number"] ? "the newest of the open pull request \(pull)" : nil
    }

    private mutating func holder(onBranch ref: String, _ number: Int, update: Int64?) throws -> String? {
        guard let branch = RefName(ref).branch else { return nil }
        let known = try branches[ref] ?? read(ref)
        branches[ref] = known
        guard known.exists else { return nil }
        if number == known.newestGreen { return "the newest green one of \(branch)" }
        if number == known.newest { return "the newest of \(branch)" }
        if number == known.newestJudged { return "the next of \(branch) is compared with it" }
        // The next push is judged together with the changes of these.
        if update != nil, number > known.newestJudgedPush ?? 0 { return "\(branch) was not judged since" }
        return try isTip(update) ? "\(branch) stands at its push" : nil
    }

    /// Returns whether the repository was scanned. The bot's file may have just changed its repository, and the new one is unknown until a scan
    /// succeeds.
    private func wasScanned() throws -> Bool {
        try db.first("SELECT 1 FROM repositories WHERE id = ? AND last_look IS NOT NULL", [repository]) { _ in true }
            ?? false
    }

    private func read(_ ref: String) throws -> Branch {
        let exists = try db.first(
            "SELECT 1 FROM refs WHERE repository = ? AND name = ? AND head IS NOT NULL", [repository, ref]
        ) { _ in true }
        guard try exists == true || !wasScanned() else { return Branch(exists: false) }
        return Branch(
            exists: true, newest: try newest(.any, on: ref), newestJudged: try newest(.judged, on: ref),
            newestJudgedPush: try newest(.judgedPush, on: ref), newestGreen: try newest(.green, on: ref))
    }

    /// Returns the number of a ref's newest integration of a kind; `nil` if there is none.
    /// - Parameter limit: Only lower numbers count.
    private func newest(_ kind: Kind, on ref: String, before limit: Int = .max) throws -> Int? {
        try db.first(
            """
            SELECT number FROM integrations WHERE bot = ? AND ref = ? AND number < ? AND removed_at IS NULL AND \(kind.condition)
            ORDER BY number DESC LIMIT 1
            """, [row, ref, limit]
        ) { try $0[0] }
    }

    /// Returns whether the ref's latest movement caused the integration. A scan that sees the branch as new must find it integrated.
    private func isTip(_ update: Int64?) throws -> Bool {
        guard let update else { return false }
        return try db.first(
            """
            SELECT 1 FROM ref_updates JOIN refs ON refs.repository = ref_updates.repository AND name = ref
                AND refs.generation = ref_updates.generation WHERE ref_updates.id = ? AND head IS NOT NULL
            """, [update]
        ) { _ in true } ?? false
    }
}
