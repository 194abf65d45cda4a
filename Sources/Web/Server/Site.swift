import Basics
import Integrations
import Logging
import Model
import Settings
import SignIn
import Storage

/// The objects that all request handlers share.
struct Site: Sendable {
    let configuration: WebConfiguration
    let store: Store
    let operations: Operations
    let files: FileSender
    let checks = FileChecks()
    let articles = BotArticles()
    var fileCache = FileCache()
    let exports = KeptExports()
    let descriptions = DescriptionChecks()
    let seals = VersionSeals()
    let date = DateText()
    let events = EventHistory()
    let downloads: Downloads
    let figures: WorkFigures
    let templates: Templates
    let messages = PageMessages()
    let failedLogins = FailedLogins()
    let refusals: RefusalLog
    /// The key of sign-ins in progress, and of the forms of persons whom a proxy names. It changes with each start.
    let signInKey = RandomSecret.bytes(32)
    /// The OpenID Connect provider; `nil`: none.
    var openID: OpenIDProvider?
    let clock: @Sendable () -> Timestamp
    let logger: Logger

    /// - Throws: 404; 410 for an integration that was removed.
    func integration(of call: AuthorizedRequest) async throws -> IntegrationRecord {
        let bot = try call.name("bot")
        let text = call.text("number")
        if text == "latest" {
            let branch = call.ref("branch")
            guard let record = try await store.latestIntegration(of: bot, ref: branch) else {
                let place = branch.map { " on \($0.shortName)" } ?? ""
                throw Problem(404, "There is no integration of \(bot)\(place); `martlet bots` lists the bots.")
            }
            return record
        }
        // A number has one spelling: no sign, no leading zero.
        guard let number = Int(text), String(number) == text, number > 0 else { throw Problem.notFound }
        return try await integration(IntegrationID(bot: bot, number: number))
    }

    /// - Throws: 404; 410 for an integration that was removed.
    func integration(_ id: IntegrationID) async throws -> IntegrationRecord {
        if let record = try await store.integration(id) { return record }
        guard let removal = try await store.removal(of: id) else {
            guard try await store.latestIntegration(of: id.bot) != nil else {
                throw Problem(404, "There is no \(id), and no other of \(id.bot); `martlet bots` lists the bots.")
            }
            throw Problem(404, "There is no \(id); `martlet integrations \(id.bot)` lists what there is.")
        }
        throw Problem(410, "\(id) was removed by retention on \(removal.at.description.prefix(10)): \(removal.reason).")
    }

    /// Returns every attempt in the order of the recipe's configurations, then by job and number.
    func attempts(of integration: IntegrationRecord) async throws -> [AttemptRecord] {
        let order = (integration.recipe?.configurations ?? []).map(\.name)
        func rank(_ attempt: AttemptRecord) -> (Int, AttemptID) {
            (order.firstIndex(of: attempt.id.job) ?? order.count, attempt.id)
        }
        return try await store.attempts(of: integration.id).sorted { rank($0) < rank($1) }
    }

    /// Returns one attempt of each job, in the order of `attempts(of:)`.
    /// - Parameter attempt: The attempt's number; `nil`: the latest. A job without an attempt of that number is left out.
    static func shown(_ attempts: [AttemptRecord], attempt: Int?) -> [AttemptRecord] {
        if let attempt { return attempts.filter { $0.id.attempt == attempt } }
        var latest: [AttemptRecord] = []
        for attempt in attempts {
            if latest.last?.id.job == attempt.id.job { latest.removeLast() }
            latest.append(attempt)
        }
        return latest
    }

    /// Returns whether a permit is still valid.
    func isGiven(_ permit: LiveAnswers.Permit) async throws -> Bool {
        switch permit {
        case .token(let hash): try await store.token(hash: hash).map { $0.revokedAt == nil } ?? false
        case .session(let hash): try await caller(inSession: hash, csrf: "") != nil
        case .product(let scope): try await openness(scope).mayRead
        }
    }

    /// Returns the caller to whom a token belongs; `nil` if the token is unknown or revoked.
    func caller(with token: BearerToken) async throws -> Caller? {
        guard let record = try await store.token(hash: token.hash), record.revokedAt == nil else { return nil }
        return Caller(name: record.name, rights: Rights(record.role, on: record.bots))
    }

    /// Returns the caller to whom a session belongs; `nil` if it has ended, or gives no role any more.
    func caller(in session: SessionSecret) async throws -> Caller? {
        try await caller(inSession: session.hash, csrf: session.csrf)
    }

    private func caller(inSession hash: String, csrf: String) async throws -> Caller? {
        guard let session = try await store.session(hash: hash, at: clock()) else { return nil }
        let rights = rights(of: session)
        return rights.isEmpty ? nil : Caller(name: session.person, rights: rights, csrf: csrf, hasSession: true)
    }

    /// Returns the rights that a session gives now; none if the settings do not name its provider, or give the person no role.
    func rights(of session: SessionRecord) -> Rights {
        switch session.origin {
        case .token(_, let rights): return rights
        case .provider(let statement):
            guard let openID = configuration.signIn.openID, openID.issuer == statement.issuer else { return .anonymous }
            return openID.roles.rights(names: statement.groups, mail: statement.mail)
        }
    }
}
