import Model

/// A bot's specification as the columns `bots.specification` and `integrations.specification` hold it, in JSON.
///
/// A key that a version added is optional, so that the specifications of earlier versions are still read. The keys `other…` are written only for
/// values that are not the default, so that the text of an unchanged bot does not change with the version.
struct StoredSpecification: Codable {
    private var name: Name
    private var repository: String
    private var isInsecure: Bool
    private var hasSubmodules: Bool
    private var acceptsPointers: Bool?
    private var branches: [RefPattern]?
    private var tags: [RefPattern]
    private var paths: PathFilter?
    private var poll: BotSpecification.Poll
    private var webhookSecret: String?
    private var schedule: BotSpecification.Schedule?
    private var clean: BotSpecification.Clean
    private var supersede: BotSpecification.Supersede?
    private var timeout: Duration
    private var otherLogLimit: ByteCount?
    private var triggers: [Trigger]
    private var recipe: BotSpecification.RecipeSource?
    private var product: Name
    private var isPublic: Bool?
    private var jobSecrets: [JobSecret]?
    private var status: StatusTarget?
    private var forge: ForgeKind?
    private var notices: [Notice]?
    private var retention: Retention?
    private var otherPullRequests: BotSpecification.PullRequests?
    private var otherUpgrades: Bool?

    init(_ bot: BotSpecification) {
        name = bot.name
        repository = bot.repository
        isInsecure = bot.isInsecure
        hasSubmodules = bot.hasSubmodules
        acceptsPointers = bot.acceptsPointers
        branches = bot.branches
        tags = bot.tags
        paths = bot.paths
        poll = bot.poll
        webhookSecret = bot.webhookSecret
        schedule = bot.schedule
        clean = bot.clean
        supersede = bot.supersede
        timeout = bot.timeout
        otherLogLimit = bot.logLimit == BotSpecification.usualLogLimit ? nil : bot.logLimit
        triggers = bot.triggers
        recipe = bot.recipe
        product = bot.product
        isPublic = bot.isPublic
        jobSecrets = bot.jobSecrets
        status = bot.status
        forge = bot.forge
        notices = bot.notices
        retention = bot.retention
        otherPullRequests = bot.pullRequests == .trusted ? nil : bot.pullRequests
        otherUpgrades = bot.isIntegratedOnUpgrade ? nil : false
    }

    var specification: BotSpecification {
        var bot = BotSpecification(
            name: name, repository: repository, isInsecure: isInsecure, hasSubmodules: hasSubmodules,
            acceptsPointers: acceptsPointers, branches: branches, tags: tags, paths: paths, poll: poll,
            webhookSecret: webhookSecret, schedule: schedule, clean: clean, supersede: supersede, timeout: timeout,
            logLimit: otherLogLimit ?? BotSpecification.usualLogLimit, triggers: triggers, recipe: recipe,
            product: product, isPublic: isPublic, jobSecrets: jobSecrets, status: status, notices: notices,
            pullRequests: otherPullRequests ?? .trusted, isIntegratedOnUpgrade: otherUpgrades ?? true,
            retention: retention)
        bot.forge = forge
        return bot
    }
}

extension StoredRow {
    /// Returns the specification in the column `specification`; `nil` if it is NULL.
    func specification() throws -> BotSpecification? {
        try json("specification", as: StoredSpecification.self)?.specification
    }
}
