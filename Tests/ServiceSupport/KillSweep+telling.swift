import Crypto
import Foundation

/// What is told outside: docs/guide/notices.md and commit-statuses.md. The ledger is what `Listener` noted.
extension KillSweep {
    /// Signs webhooks.
    static let key = Data((0..<32).map { UInt8($0) })
    /// In seconds: a try that failed is made again after at most 2 s, and at the daemon's start.
    private static let patience = 30.0

    // MARK: Webhooks

    /// Pushes what breaks the branch, or mends it, whichever the branch has not.
    func turn(_ bot: String) throws -> (commit: String, result: String, type: String) {
        let breaks = broken.insert(bot).inserted
        if !breaks {
            broken.remove(bot)
            try service.git(bot, "rm", "-q", "broken")
        }
        let files = ["file": "\(runs) \(breaks)\n"].merging(breaks ? ["broken": ""] : [:]) { $1 }
        let commit = try service.commit(bot, files: files)
        return (commit, breaks ? "build-errors" : "succeeded", breaks ? "integration.broke" : "integration.fixed")
    }

    func beginTelling(_ scenario: KillScenario) throws -> Course {
        let (bot, listener) = (scenario.rawValue, listener)
        switch scenario {
        case .tellingBusy: listener.set(.holds, for: bot)
        case .tellingGone, .tellingAgain: listener.set(.answers(410), for: bot)
        case .tellingNobody:
            try name(KillScenario.told, scenario)
            listener.set(.holds, for: bot)
        default: break
        }
        let one = try turn(bot)
        let results = [(one.commit, one.result)]
        guard scenario != .telling, scenario != .tellingGone else {
            return Course(bot: bot, act: push(one.commit, to: bot), results: results, attempts: ["debug": 1]) {
                let number = try self.end(of: one.commit, bot: bot)
                return try self.violations(
                    bot, number, one.type, isTaken: scenario == .telling, isDaemonKilled: $0)
            }
        }
        let number = try ended(one.commit, of: bot)
        if scenario == .tellingAgain {
            let row = try awaitRow(of: "\(bot)#\(number)", "given-up")
            listener.set(nil, for: bot)
            return Course(bot: bot, act: { try Self.retry(row, $0) }, results: results, attempts: ["debug": 1]) {
                try self.violations(bot, number, one.type, isTaken: true, isDaemonKilled: $0)
            }
        }
        try awaitHeld(bot)
        if scenario == .tellingBusy {
            let act: @Sendable (ServiceClient) -> Bool = { _ in
                listener.release(bot, status: 503)
                return true
            }
            return Course(bot: bot, act: act, results: results, attempts: ["debug": 1]) {
                try self.violations(bot, number, one.type, isTaken: true, isDaemonKilled: $0)
            }
        }
        // A second message waits behind the first, and then the file names nobody.
        let two = try turn(bot)
        let second = try ended(two.commit, of: bot)
        try name("nobody", scenario)
        let act: @Sendable (ServiceClient) -> Bool = { _ in
            listener.release(bot, status: 200)
            return true
        }
        return Course(bot: bot, act: act, results: results + [(two.commit, two.result)], attempts: ["debug": 1]) {
            _ = try? self.awaitRow(of: "\(bot)#\(second)", "unneeded")
            let rows = try self.rows(of: "\(bot)#\(second)")
            let told = listener.entries(of: bot).filter { Self.number($0) == second }
            let wrong = rows.map(\.state) != ["unneeded"] || !told.isEmpty
            return try self.violations(bot, number, one.type, isTaken: true, isDaemonKilled: $0)
                + (wrong ? ["\(bot)#\(second) was told \(told.count) times and is \(rows.map(\.state))"] : [])
        }
    }

    /// Names another one in a bot's file, and waits until the daemon knows him.
    private func name(_ told: String, _ scenario: KillScenario) throws {
        let (path, bot) = ("etc/bots/\(scenario.rawValue).yml", scenario.rawValue)
        let rest = service.text(path).components(separatedBy: "insecure: true\n")[0]
        try service.write(path, rest + scenario.lines(telling: told, at: listener.port))
        let isKnown = Moment.until(limit: 30, pause: 20) {
            (try? service.client.send("GET", "/api/v1/bots/\(bot)/resolved").text.contains("name: \(told)")) == true
        }
        guard isKnown else { throw ServiceFailure("\(path) is not taken up") }
    }

    private static func retry(_ row: Int, _ client: ServiceClient) throws -> Bool {
        // 409: it is not given up any more, since an earlier try of ours was heard.
        [200, 409].contains(try client.send("POST", "/api/v1/outbox/\(row)/retry").status)
    }

    /// Waits until somebody is being told who does not answer.
    func awaitHeld(_ bot: String) throws {
        let isHeld = Moment.until(limit: Self.patience) { listener.entries(of: bot).contains { $0.status == 0 } }
        guard isHeld else { throw ServiceFailure("\(bot): nobody was told") }
    }

    private static func number(_ entry: Listener.Entry) -> Int? {
        let data = entry.fields["data"] as? [String: Any]
        return (data?["integration"] as? [String: Any])?["number"] as? Int
    }

    /// What an integration told: one message, which was taken, or is given up, and came once more only under its name, and only where the
    /// daemon could not know whether it had arrived.
    func violations(
        _ bot: String, _ number: Int, _ type: String, isTaken: Bool, isDaemonKilled: Bool
    ) throws -> [String] {
        let (name, wanted) = ("\(bot)#\(number)", isTaken ? "sent" : "given-up")
        var found: [String] = []
        _ = try? awaitRow(of: name, wanted)
        let states = try rows(of: name).map(\.state)
        if states != [wanted] { found.append("\(name): the outbox has \(states) instead of \(wanted)") }
        let told = listener.entries(of: bot).filter { Self.number($0) == number }
        let last = told.filter { $0.status == (isTaken ? 200 : 410) }
        if last.isEmpty || last.count > (isDaemonKilled ? 2 : 1) {
            found.append("\(name) was told \(last.count) times: \(told.map(\.status))")
        }
        if Set(told.map { $0.headers["webhook-id"] ?? "" }).count > 1 || Set(told.map(\.body)).count > 1 {
            found.append("\(name) was told by several messages")
        }
        for entry in told {
            if entry.fields["type"] as? String != type {
                found.append("\(name) was told as \(entry.fields["type"] ?? "")")
            }
            if !Self.isSigned(entry) { found.append("\(name) was told with a wrong signature") }
        }
        return found
    }

    /// github.com/standard-webhooks, specification: HMAC-SHA256 over `ID.TIMESTAMP.BODY`.
    static func isSigned(_ entry: Listener.Entry) -> Bool {
        let head = "\(entry.headers["webhook-id"] ?? "").\(entry.headers["webhook-timestamp"] ?? "")."
        let code = HMAC<SHA256>.authenticationCode(
            for: Data(head.utf8) + Data(entry.body), using: SymmetricKey(data: key))
        return entry.headers["webhook-signature"] == "v1," + Data(code).base64EncodedString()
    }

    // MARK: The outbox

    /// The messages of an integration, newest first.
    private func rows(of integration: String) throws -> [(id: Int, state: String)] {
        let items = try service.client.get("outbox?limit=100")["items"] as? [[String: Any]] ?? []
        return items.filter { $0["integration"] as? String == integration }.compactMap { item in
            (item["id"] as? Int).flatMap { id in (item["state"] as? String).map { (id, $0) } }
        }
    }

    /// - Returns: The row's number.
    private func awaitRow(of integration: String, _ state: String) throws -> Int {
        var row: Int?
        let isThere = Moment.until(limit: Self.patience, pause: 20) {
            row = (try? rows(of: integration))?.first { $0.state == state }?.id
            return row != nil
        }
        guard isThere, let row else { throw ServiceFailure("no message of \(integration) is \(state)") }
        return row
    }

    // MARK: Statuses

    func beginReporting(_ scenario: KillScenario) throws -> Course {
        let (bot, listener) = (scenario.rawValue, listener)
        if scenario == .reportingNewest { listener.set(.holds, for: bot) }
        let commit = try service.commit(bot, files: ["file": "\(runs)\n"])
        var act = push(commit, to: bot)
        if scenario == .reportingNewest {
            _ = try ended(commit, of: bot)
            try awaitHeld(bot)
            act = { _ in
                listener.release(bot, status: 503)
                return true
            }
        }
        return Course(bot: bot, act: act, results: [(commit, "succeeded")], attempts: ["debug": 1]) { _ in
            self.statusViolations(of: commit, bot: bot)
        }
    }

    /// What the forge has of a commit: what it came to, and nothing twice, since the forge is asked before anything is sent again.
    private func statusViolations(of commit: String, bot: String) -> [String] {
        var shown: [String: [String]] = [:]
        _ = Moment.until(limit: Self.patience, pause: 20) {
            shown = [:]
            for entry in listener.entries(of: bot)
            where entry.status == 201 && entry.path.hasSuffix("/statuses/\(commit)") {
                let fields = entry.fields
                let text = "\(fields["state"] ?? ""): \(fields["description"] ?? "")"
                shown["\(fields["context"] ?? "")", default: []].append(text)
            }
            return shown.count == 2 && shown.values.allSatisfy { $0.last?.hasPrefix("success") == true }
        }
        var found: [String] = []
        for context in ["martlet/\(bot)", "martlet/\(bot)/debug"]
        where shown[context]?.last?.hasPrefix("success") != true {
            found.append("\(context) of \(commit) is shown as \(shown[context]?.last ?? "nothing")")
        }
        for (context, texts) in shown where zip(texts, texts.dropFirst()).contains(where: ==) {
            found.append("\(context) of \(commit) was reported twice: \(texts)")
        }
        return found
    }
}
