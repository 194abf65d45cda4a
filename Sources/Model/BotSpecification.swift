/// What a bot file says, with every default filled in.
package struct BotSpecification: Hashable, Sendable, Codable {
    package var name: Name
    /// As written: https, ssh, an absolute local path; http and git only when `isInsecure`.
    package var repository: String
    package var isInsecure: Bool
    /// Whether submodules are fetched and checked out.
    package var hasSubmodules: Bool
    /// Whether a file in Git LFS is built with its pointer in its place; else it is a checkout error. `nil`: it is an error.
    package var acceptsPointers: Bool?
    /// `nil`: the remote's default branch and `release/*`.
    package var branches: [RefPattern]?
    package var tags: [RefPattern]
    /// A push that changes none of these files is skipped. `nil`: every file matters.
    package var paths: PathFilter?
    package var poll: Poll
    /// The name of the secret that signs webhooks; without one the bot takes none.
    package var webhookSecret: String?
    package var schedule: Schedule?
    package var clean: Clean
    /// Which of a ref's earlier commits a newer one ends. `nil`: see `supersede(on:)`.
    package var supersede: Supersede?
    /// A step's limit.
    package var timeout: Duration
    /// The most bytes of one attempt's log.
    package var logLimit: ByteCount {
        get { otherLogLimit ?? Self.usualLogLimit }
        set { otherLogLimit = newValue == Self.usualLogLimit ? nil : newValue }
    }
    /// Bots that were stored before there was such a limit have none.
    private var otherLogLimit: ByteCount?
    package var triggers: [Trigger]
    /// Wins over the repository's own recipe.
    package var recipe: RecipeSource?
    /// The product that this bot publishes. Default: the bot's name.
    package var product: Name
    /// Whether everybody may read what it publishes, or only holders of a token. `nil`: as the service's settings say.
    package var isPublic: Bool?
    /// The secrets that jobs may ask for; `nil`: none. A bot stored by an older version has none.
    package var jobSecrets: [JobSecret]?
    /// Where commits' statuses are reported; `nil`: nowhere.
    package var status: StatusTarget?
    /// The notices; `nil`: none.
    package var notices: [Notice]?
    /// Which of its integrations are kept, key by key; the settings decide about missing keys.
    package var retention: Retention?
    /// Which pull requests are integrated. Ignored if jobs are not sandboxed: none is integrated then.
    package var pullRequests: PullRequests {
        get { otherPullRequests ?? .trusted }
        set { otherPullRequests = newValue == .trusted ? nil : newValue }
    }
    /// Bots that were stored before there was such a word have none.
    private var otherPullRequests: PullRequests?
    /// Whether a new version of the machine's toolchain integrates its branches' tips again.
    package var isIntegratedOnUpgrade: Bool {
        get { otherUpgrades ?? true }
        set { otherUpgrades = newValue ? nil : newValue }
    }
    /// Bots that were stored before there was such a word have none.
    private var otherUpgrades: Bool?

    package init(
        name: Name, repository: String, isInsecure: Bool = false, hasSubmodules: Bool = true,
        acceptsPointers: Bool? = nil, branches: [RefPattern]? = nil,
        tags: [RefPattern] = [], paths: PathFilter? = nil, poll: Poll = .automatic, webhookSecret: String? = nil,
        schedule: Schedule? = nil,
        clean: Clean = .never, supersede: Supersede? = nil, timeout: Duration = .seconds(1800),
        logLimit: ByteCount = Self.usualLogLimit, triggers: [Trigger] = [], recipe: RecipeSource? = nil,
        product: Name? = nil, isPublic: Bool? = nil, jobSecrets: [JobSecret]? = nil, status: StatusTarget? = nil,
        notices: [Notice]? = nil,
        pullRequests: PullRequests = .trusted, isIntegratedOnUpgrade: Bool = true, retention: Retention? = nil
    ) {
        self.name = name
        self.repository = repository
        self.isInsecure = isInsecure
        self.hasSubmodules = hasSubmodules
        self.acceptsPointers = acceptsPointers
        self.branches = branches
        self.tags = tags
        self.paths = paths
        self.poll = poll
        self.webhookSecret = webhookSecret
        self.schedule = schedule
        self.clean = clean
        self.supersede = supersede
        self.timeout = timeout
        self.triggers = triggers
        self.recipe = recipe
        self.product = product ?? name
        self.isPublic = isPublic
        self.logLimit = logLimit
        self.jobSecrets = jobSecrets
        self.pullRequests = pullRequests
        self.status = status
        self.notices = notices
        self.isIntegratedOnUpgrade = isIntegratedOnUpgrade
        self.retention = retention
    }

    /// The outbox destinations that are notified of its integrations.
    package var destinations: [OutboxDestination] {
        var destinations: [OutboxDestination] = []
        if let status {
            destinations.append(
                OutboxDestination(
                    kind: .status, name: status.api, account: status.credentials, isByRef: status.forge == .gitlab,
                    moments: [.queued, .started, .completed, .jobs, .skipped]))
            if status.hasComments {
                destinations.append(
                    OutboxDestination(
                        kind: .comment, name: status.api, account: status.credentials, moments: [.completed]))
            }
        }
        destinations += (notices ?? []).map { OutboxDestination($0, of: name) }
        return destinations
    }

    /// 64 MiB: a build that prints a line of 100 bytes for each of 600,000 files.
    package static let usualLogLimit = ByteCount.mebibytes(64)

    /// How often the repository is asked without being told to.
    package enum Poll: Hashable, Sendable, Codable {
        /// 60 s; 10 min once an authentic webhook has arrived, since it then only repairs what those lose.
        case automatic
        case every(Duration)
        case off
    }

    /// When the workspace is emptied before a checkout.
    package enum Clean: String, Hashable, Sendable, Codable, CaseIterable { case never, always, daily, weekly }

    /// Which integrations of a ref end when a newer commit of it is queued.
    package enum Supersede: String, Hashable, Sendable, Codable, CaseIterable {
        /// Those that have not begun.
        case queued
        /// Those whose jobs run, too. One whose triggers have begun is brought to its end.
        case running
        case never
    }

    /// A recipe written in the bot file: the YAML text of its mapping, kept whole so that one reader reads both.
    package struct RecipeSource: Hashable, Sendable, Codable {
        package var yaml: String
        /// Line of the bot file at which the recipe begins, for messages.
        package var firstLine: Int

        package init(yaml: String, firstLine: Int) {
            self.yaml = yaml
            self.firstLine = firstLine
        }
    }

    /// Whether this bot integrates a ref.
    package func watches(_ ref: RefName, defaultBranch: RefName?) -> Bool {
        if let branch = ref.branch {
            if let branches { return branches.contains { $0.matches(branch) } }
            return ref == defaultBranch || RefPattern("release/*").matches(branch)
        }
        if let tag = ref.tag { return tags.contains { $0.matches(tag) } }
        return false
    }

    /// What a newer commit of this ref ends. By default: queued integrations, but none of a ref that releases, since each of its commits may be
    /// meant to be a version. For a pull request also running ones: it publishes nothing, and nobody merges an outdated head.
    package func supersede(on ref: RefName) -> Supersede {
        supersede ?? (ref.pullRequest != nil ? .running : isRelease(ref) ? .never : .queued)
    }

    /// Whether commits of a ref may be published or uploaded: they get the `release` lane and go first.
    package func isRelease(_ ref: RefName) -> Bool {
        triggers.contains { $0.action.isRelease && $0.matches(ref) }
    }
}

/// Done before or after an integration under conditions.
package struct Trigger: Hashable, Sendable, Codable {
    package var name: Name
    package var phase: Phase
    /// `nil`: every ref the bot watches.
    package var branches: [RefPattern]?
    /// Tags it acts on; default none, or all that the bot watches when `branches` is not given either.
    package var tags: [RefPattern]?
    /// Any of them suffices.
    package var when: [Condition]
    package var action: Action
    /// Names of secrets, given to a script's environment or used by an upload.
    package var secrets: [String]
    package var timeout: Duration
    /// The names of its published versions in the package registry; `nil`: they are not in it.
    package var registry: PackageIdentifier?
    /// Whether a script runs in the sandbox. `nil`: the bot file does not say, or an older version stored it, and the script runs outside.
    package var isSandboxed: Bool?

    package init(
        name: Name, phase: Phase = .after, branches: [RefPattern]? = nil, tags: [RefPattern]? = nil,
        when: [Condition] = [.succeeded], action: Action, secrets: [String] = [], timeout: Duration = .seconds(1800),
        registry: PackageIdentifier? = nil, isSandboxed: Bool? = nil
    ) {
        self.name = name
        self.phase = phase
        self.branches = branches
        self.tags = tags
        self.when = when
        self.action = action
        self.secrets = secrets
        self.timeout = timeout
        self.registry = registry
        self.isSandboxed = isSandboxed
    }

    /// Before the jobs or after them.
    package enum Phase: String, Hashable, Sendable, Codable, CaseIterable { case before, after }

    /// What the integration must have come to for the trigger to act.
    package enum Condition: String, Hashable, Sendable, Codable, CaseIterable {
        /// No errors and no failing tests; warnings are allowed.
        case succeeded
        /// No issue at all.
        case clean
        case failed
        /// Succeeded, and the branch's integration before did not.
        case fixed
        case always
    }

    /// What the trigger does.
    package enum Action: Hashable, Sendable, Codable {
        /// An executable in `triggers/` beside `bots/`.
        case run(String)
        case publish(VersionSource)
        /// A URL with `{product} {version} {branch} {commit} {configuration} {file}`.
        case upload(url: String, credentials: String?)

        package var isRelease: Bool {
            switch self {
            case .run: false
            case .publish, .upload: true
            }
        }
    }

    /// Whether it acts on a ref. No trigger acts on pull requests, whoever made them and whatever their branches are named: unmerged code is
    /// neither published nor sent to other machines.
    package func matches(_ ref: RefName) -> Bool {
        ref.pullRequest == nil && RefPattern.isAmong(ref, branches: branches, tags: tags)
    }
}
