import Archives
package import Basics
package import Forges
package import Model
import Notifications
package import Settings

/// The bots as their files define them now.
package actor BotRegistry: BotSource {
    private let directory: BotDirectory?
    private let settings: ServiceSettings
    /// The secrets that webhooks are signed with, read for each delivery.
    nonisolated let secrets: SecretStore
    /// How jobs are isolated from the machine.
    nonisolated let isolation: Isolation
    private let loopbackReason: String?
    private let version: String
    /// The queue on which bot files and secrets are read, and the signatures of large bodies are computed.
    private let queue = SerialQueue(label: "registry")
    var bots: [Name: BotSpecification] = [:] { didSet { arrange() } }
    /// The bots in order of name. Kept sorted because it is read each second.
    private var ordered: [BotSpecification] = []
    private var ofRepository: [String: [BotSpecification]] = [:]
    private var isRegistered = false
    private var problems: [String] = []
    /// The problems that have no line in the log yet, at most `maximumUnlogged`.
    private var unlogged: [String] = []
    /// The most problems that are logged at one time.
    private static let maximumUnlogged = 50
    /// The bots as this daemon last stored them; `nil` before the first time.
    private var registered: [BotSpecification]?

    /// - Parameter directory: The directory of the bot files; `nil` if there is none.
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
        let scan = await queue.run { directory.scan() }
        let found = scan.problems.flatMap { problem in problem.diagnostics.map(\.description) }
        // A file with errors is read each second until it is corrected. It has one line.
        unlogged += found.filter { !problems.contains($0) }
        problems = found
        // This runs each second, for thousands of files. The bots can change without a file being read: one of two bots that claim the same
        // package replaces the other.
        let isOther = scan.bots.count != bots.count || scan.bots.contains { bots[$0.name] == nil }
        guard scan.readFiles > 0 || isOther else { return }
        let read = Dictionary(scan.bots.map { ($0.name, $0) }) { first, _ in first }
        if read != bots { bots = read }
    }

    /// Returns the problems of bot files that were found since the last call, for the log.
    func newProblems() -> [String] {
        defer { unlogged = [] }
        return Array(unlogged.prefix(Self.maximumUnlogged))
    }

    private func arrange() {
        ordered = bots.values.sorted { $0.name < $1.name }
        ofRepository = Dictionary(grouping: ordered, by: \.repository)
        isRegistered = false
    }

    /// Returns the bots if they differ from the stored ones; `nil` if they do not have to be stored.
    package func unregistered() -> [BotSpecification]? { isRegistered || registered == all() ? nil : all() }

    /// Records which bots were stored.
    package func markRegistered(_ bots: [BotSpecification]) {
        registered = bots
        isRegistered = bots == ordered
    }

    /// Returns all bots, in order of name.
    package func all() -> [BotSpecification] { ordered }

    /// Returns a bot in its last valid form; `nil` if no bot has this name.
    package func bot(_ name: Name) -> BotSpecification? { bots[name] }

    /// Returns the bots of a repository, in order of name.
    package func bots(of repository: String) -> [BotSpecification] { ofRepository[repository] ?? [] }

    /// Returns how each repository is to be polled, by repository: the polling settings of its bots, in order of their names.
    func polls() -> [String: [BotSpecification.Poll]] { ofRepository.mapValues { $0.map(\.poll) } }

    /// Returns what pages show of all bots: the problems of their files, and how the service runs.
    package func overview() -> Overview {
        Overview(
            bots: all(), problems: problems, isolation: isolation, loopbackReason: loopbackReason,
            version: version)
    }

    /// Returns the bot's file with every default, as YAML.
    /// - Throws: `.notFound`.
    package func resolved(_ name: Name) throws(OperationError) -> String {
        ResolvedYAML.print(try known(name))
    }

    /// Returns the rules of a schedule's time zone; `nil` if this version no longer knows it.
    func zone(of schedule: BotSpecification.Schedule) async -> ZoneRules? {
        guard let name = schedule.zone else { return .utc }
        return await queue.run { TimeZones.rules(of: name) }
    }

    /// Returns the next time of a bot's schedule after `moment`. `nil` if the bot has no schedule or this version does not know its time zone.
    func nextScheduled(_ name: Name, after moment: Timestamp) async -> Timestamp? {
        guard let schedule = bots[name]?.schedule, let zone = await zone(of: schedule) else { return nil }
        return schedule.next(after: moment, in: zone)
    }

    /// Verifies that a push is signed with the secret of its bot.
    /// - Parameters:
    ///   - now: The time of its receipt. During the overlap of a rotation, the secret's value before is accepted, too.
    ///   - queue: The queue on which the signature is computed; `nil` means the registry's own.
    /// - Returns: The bot. `nil` if the signature is wrong, the bot is unknown or names no secret, or its secret is not set.
    /// - Throws: `.unavailable` if the body cannot be read.
    package func verifies(
        _ push: PushRequest, at now: Timestamp, on queue: SerialQueue? = nil
    ) async throws(OperationError) -> BotSpecification? {
        guard let bot = bots[push.bot], let name = bot.webhookSecret, let signature = push.signature else { return nil }
        let secrets = secrets
        let isValid = try await (queue ?? self.queue).run { () throws(OperationError) in
            // An unreadable secret counts as one that is not set; `martlet doctor` says why.
            guard let values = try? secrets.acceptedValues(name, at: now) else { return false }
            return try OperationError.forDelivery { () throws(ForgeError) in
                for value in values where try Self.isSignature(signature, of: push.body, secret: value) { return true }
                return false
            }
        }
        return isValid ? bot : nil
    }

    /// Whether a text is `sha256=` and the body's HMAC-SHA256 in hexadecimal. Always false for an empty secret.
    /// - Throws: `.unavailable` if the body cannot be read.
    static func isSignature(_ text: String, of body: WebhookBody, secret: String) throws(ForgeError) -> Bool {
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

/// The bots that name one webhook secret.
struct WebhookBots: Sendable {
    /// The secret's name, never its value.
    let secret: String
    var bots: [BotSpecification]
}

extension BotRegistry {
    /// The most secrets that are tried for one delivery to a hook that bots share. Each costs an HMAC of the body, before the sender is known, and a
    /// second one during the overlap of a rotation.
    static let maximumSharedSecrets = 64

    /// Returns the bots that a delivery may be for, grouped by secret. Empty if the bot is unknown or names no secret.
    /// - Parameter bot: If given, only that bot. If `nil`, every bot whose repository is not at a public host of another forge, up to
    ///   `maximumSharedSecrets` secrets, in order of the bots' names. Bots beyond that have their own URLs.
    func hooks(of forge: Forge, bot: Name?) -> [WebhookBots] {
        guard bot == nil else {
            guard let bot = bot.flatMap({ bots[$0] }), let secret = bot.webhookSecret else { return [] }
            return [WebhookBots(secret: secret, bots: [bot])]
        }
        var hooks: [WebhookBots] = []
        for bot in all() {
            guard let secret = bot.webhookSecret, canBe(bot, of: forge) else { continue }
            if let index = hooks.firstIndex(where: { $0.secret == secret }) {
                hooks[index].bots.append(bot)
            } else if hooks.count < Self.maximumSharedSecrets {
                hooks.append(WebhookBots(secret: secret, bots: [bot]))
            }
        }
        return hooks
    }

    private func canBe(_ bot: BotSpecification, of forge: Forge) -> Bool {
        guard let key = NamedRepository.key(of: bot.repository),
            let owner = Forge.of(host: String(key.prefix { $0 != "/" }))
        else { return true }
        return owner == forge
    }

    /// Returns how to connect the repository's host, word for word. It contains the URL and the name of the secret, but never the secret's value.
    /// - Throws: `.notFound`; `.invalid` if the bot names no webhook secret.
    package func webhookInstructions(_ name: Name, forge: Forge) throws(OperationError) -> String {
        let bot = try known(name)
        guard let secret = bot.webhookSecret else {
            throw OperationError(
                .invalid,
                "the bot \(name) names no webhook secret: add `webhook: { secret: \(name)-webhook }` to its file and set it "
                    + "with `martlet secret set \(name)-webhook`")
        }
        return forge.instructions(url: "\(serviceURL)/webhooks/\(forge)/\(name)", secret: secret)
    }
}
