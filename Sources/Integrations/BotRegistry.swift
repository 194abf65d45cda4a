import Archives
package import Basics
package import Model
package import Settings

/// The bots as their files say now.
package actor BotRegistry {
    private let directory: BotDirectory?
    private let settings: ServiceSettings
    /// What webhooks are signed with; read for each delivery.
    nonisolated let secrets: SecretStore
    /// What keeps jobs from the machine.
    nonisolated let isolation: Isolation
    private let loopbackReason: String?
    private let version: String
    /// Bot files, secrets and signatures of large bodies are read and computed here.
    private let lane = BlockingLane(label: "registry")
    var bots: [Name: BotSpecification] = [:] { didSet { arrange() } }
    /// In order of name, and by repository: both are asked for each second and each look.
    private var ordered: [BotSpecification] = []
    private var ofRepository: [String: [BotSpecification]] = [:]
    private var isRegistered = false
    private var problems: [String] = []
    /// Of the schedules' time zones, by name, as the system knows them when each is met first.
    private var zones: [String: ZoneRules] = [:]
    /// The bots as this daemon last stored them; `nil` before the first time.
    private var registered: [BotSpecification]?

    /// - Parameter directory: Where bot files lie.
    package init(
        directory: BotDirectory?, settings: ServiceSettings, secrets: SecretStore, isolation: Isolation,
        loopbackReason: String? = nil, version: String
    ) {
        self.directory = directory
        self.settings = settings
        self.secrets = secrets
        self.isolation = isolation
        self.loopbackReason = loopbackReason
        self.version = version
    }

    /// Reads the bot files that changed.
    package func reload() async {
        guard let directory else { return }
        let scan = await lane.run { directory.scan() }
        problems = scan.problems.flatMap { problem in problem.diagnostics.map(\.description) }
        // Each second, of up to a thousand files. One bot can come as another goes though no file was read: of two that want one package.
        let isOther = scan.bots.count != bots.count || scan.bots.contains { bots[$0.name] == nil }
        guard scan.readFiles > 0 || isOther else { return }
        let read = Dictionary(scan.bots.map { ($0.name, $0) }) { first, _ in first }
        if read != bots { bots = read }
    }

    private func arrange() {
        ordered = bots.values.sorted { $0.name < $1.name }
        ofRepository = Dictionary(grouping: ordered, by: \.repository)
        isRegistered = false
    }

    /// The bots, if they differ from the stored ones; `nil` if nothing has to be stored.
    package func unregistered() -> [BotSpecification]? { isRegistered || registered == all() ? nil : all() }

    /// Notes what was stored.
    package func markRegistered(_ bots: [BotSpecification]) {
        registered = bots
        isRegistered = bots == ordered
    }

    /// Every bot, in order of name.
    package func all() -> [BotSpecification] { ordered }

    /// A bot in its last valid form; `nil` if there is none of this name.
    package func bot(_ name: Name) -> BotSpecification? { bots[name] }

    /// The bots that look at a repository.
    package func bots(of repository: String) -> [BotSpecification] { ofRepository[repository] ?? [] }

    /// How each repository is to be polled: its bots' wishes, in order of their names.
    func polls() -> [String: [BotSpecification.Poll]] { ofRepository.mapValues { $0.map(\.poll) } }

    /// What pages show of all bots: their files' problems, and how the service runs.
    package func overview() -> Overview {
        Overview(
            bots: all(), problems: problems, isolation: isolation, loopbackReason: loopbackReason, url: serviceURL,
            version: version)
    }

    /// The bot's file with every default, as YAML.
    /// - Throws: `.notFound`.
    package func resolved(_ name: Name) throws(OperationError) -> String {
        ResolvedYAML.print(try known(name))
    }

    /// The rules of a schedule's time zone; `nil` if the system does not know it any more.
    func zone(of schedule: BotSpecification.Schedule) async -> ZoneRules? {
        guard let name = schedule.zone else { return .utc }
        if let zone = zones[name] { return zone }
        let zone = await lane.run { TimeZones.rules(of: name) }
        zones[name] = zone
        return zone
    }

    /// Forgets the time zones' rules, so that they are read again: the machine's may have been updated.
    func forgetZones() { zones = [:] }

    /// The first moment of a bot's schedule after another; `nil` for a bot without a schedule.
    func nextScheduled(_ name: Name, after moment: Timestamp) async -> Timestamp? {
        guard let schedule = bots[name]?.schedule, let zone = await zone(of: schedule) else { return nil }
        return schedule.next(after: moment, in: zone)
    }

    /// Whether a push is signed with the bot's secret. Returns false if the bot is unknown, names no secret, or its secret is not set.
    /// - Parameter lane: Where the signature is computed; `nil`: the registry's own.
    /// - Throws: `.unavailable` if the body cannot be read.
    package func verifies(
        _ push: PushRequest, on lane: BlockingLane? = nil
    ) async throws(OperationError) -> BotSpecification? {
        guard let bot = bots[push.bot], let name = bot.webhookSecret, let signature = push.signature else { return nil }
        let secrets = secrets
        let isValid = try await (lane ?? self.lane).run { () throws(OperationError) in
            // An unreadable secret counts as one that is not set; `martlet doctor` says why.
            guard let secret = try? secrets.value(name) else { return false }
            return try Self.isSignature(signature, of: push.body, secret: secret)
        }
        return isValid ? bot : nil
    }

    /// Whether a text is `sha256=` and the body's HMAC-SHA256 in hexadecimal. False for an empty secret.
    /// - Throws: `.unavailable` if the body cannot be read.
    static func isSignature(_ text: String, of body: WebhookBody, secret: String) throws(OperationError) -> Bool {
        guard !secret.isEmpty, let given = WebhookProof.digest(text, prefix: "sha256=") else { return false }
        return ConstantTime.areEqual(try body.authenticationCode(key: Array(secret.utf8)), given)
    }

    var serviceURL: String {
        settings.url ?? settings.listen.first.map { "http://\($0)" } ?? "http://127.0.0.1:8080"
    }

    func known(_ name: Name) throws(OperationError) -> BotSpecification {
        guard let bot = bots[name] else {
            throw OperationError(.notFound, "there is no bot \(name); `martlet bots` lists them")
        }
        return bot
    }
}
