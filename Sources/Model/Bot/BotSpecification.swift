/// The content of a bot file, with every default filled in.
package struct BotSpecification: Hashable, Sendable {
    package var name: Name
    /// The address as written: https, ssh or an absolute local path. http and git are allowed only if `isInsecure` is set.
    package var repository: String
    package var isInsecure: Bool
    /// Whether submodules are fetched and checked out.
    package var hasSubmodules: Bool
    /// Whether a file in Git LFS may be built with its pointer in its place. Otherwise, and if `nil`, such a file is a checkout error.
    package var acceptsPointers: Bool?
    /// The branches to integrate; `nil` means the remote's default branch and `release/*`.
    package var branches: [RefPattern]?
    package var tags: [RefPattern]
    /// The files that matter: a push that changes none of them is skipped. `nil` means that every file matters.
    package var paths: PathFilter?
    package var poll: Poll
    /// The name of the secret that signs webhooks. If it is `nil`, the bot accepts no webhooks.
    package var webhookSecret: String?
    package var schedule: Schedule?
    package var clean: Clean
    /// Which earlier integrations of a ref a newer commit supersedes. `nil` means the default of `supersede(on:)`.
    package var supersede: Supersede?
    /// The time limit of a step.
    package var timeout: Duration
    /// The size limit of an attempt's log.
    package var logLimit: ByteCount
    package var triggers: [Trigger]
    /// The recipe in the bot file, which takes precedence over the repository's own.
    package var recipe: RecipeSource?
    /// The product that this bot publishes. The default is the bot's name.
    package var product: Name
    /// Whether everybody may read what the bot publishes, or only holders of a token. `nil` means the service's setting.
    package var isPublic: Bool?
    /// The secrets that jobs may ask for. `nil` means none, also for a bot that an older version stored.
    package var jobSecrets: [JobSecret]?
    /// The forge of a repository at a host of the user's own, for links to its pages; `nil` if the file does not name it.
    package var forge: ForgeKind?
    /// Where commit statuses are reported; `nil` means nowhere.
    package var status: StatusTarget?
    /// The notices of the bot; `nil` means none.
    package var notices: [Notice]?
    /// Which of the bot's integrations are kept. The service's settings apply to keys that are missing here.
    package var retention: Retention?
    /// Which pull requests are integrated. Ignored if jobs are not sandboxed: no pull request is integrated then.
    package var pullRequests: PullRequests
    /// Whether a new version of the machine's toolchain queues integrations of its branches' tips.
    package var isIntegratedOnUpgrade: Bool

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

    /// The outbox destinations that are notified of the bot's integrations.
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

    /// 64 MiB: enough for a build that prints a line of 100 bytes for each of 600,000 files.
    package static let usualLogLimit = ByteCount.mebibytes(64)

    /// How often the repository is scanned without an event.
    package enum Poll: Hashable, Sendable, Codable {
        /// Every 60 s. Every 10 min after the first authentic webhook, because scans then only find what webhooks missed.
        case automatic
        case every(Duration)
        case off
    }

    /// When the workspace is emptied before a checkout.
    package enum Clean: String, Hashable, Sendable, Codable, CaseIterable { case never, always, daily, weekly }

    /// Which integrations of a ref end when a newer commit of it is queued.
    package enum Supersede: String, Hashable, Sendable, Codable, CaseIterable {
        /// Integrations that have not started.
        case queued
        /// Also integrations whose jobs run. An integration whose triggers have started is completed.
        case running
        case never
    }

    /// A recipe in the bot file. It keeps the YAML text of the mapping, so that one parser reads both kinds of recipes.
    package struct RecipeSource: Hashable, Sendable, Codable {
        package var yaml: String
        /// The line of the bot file at which the recipe begins, for messages.
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

    /// Returns which integrations a newer commit of this ref supersedes.
    ///
    /// By default these are queued integrations, but none of a release ref, because each of its commits may become a version. For a pull request,
    /// running integrations are superseded, too: it publishes no version, and an outdated head is not merged.
    package func supersede(on ref: RefName) -> Supersede {
        supersede ?? (ref.pullRequest != nil ? .running : isRelease(ref) ? .never : .queued)
    }

    /// Whether commits of a ref may be published or uploaded. Such a ref gets the `release` trust domain and is integrated before others.
    package func isRelease(_ ref: RefName) -> Bool {
        triggers.contains { $0.action.isRelease && $0.matches(ref) }
    }
}

/// An action before or after an integration, under conditions.
package struct Trigger: Hashable, Sendable, Codable {
    package var name: Name
    package var phase: Phase
    /// The branches it acts on; `nil` means every branch that the bot watches, unless `tags` is set.
    package var branches: [RefPattern]?
    /// The tags it acts on. If `nil`: none if `branches` is set, otherwise all that the bot watches.
    package var tags: [RefPattern]?
    /// The conditions, one of which must hold.
    package var when: [Condition]
    package var action: Action
    /// The names of the secrets that a script gets in its environment, or that an upload uses.
    package var secrets: [String]
    package var timeout: Duration
    /// The identifier of its published versions in the package registry; `nil` if they are not in the registry.
    package var registry: PackageIdentifier?
    /// Whether a script runs in the sandbox. If `nil`, it runs outside: the bot file does not state it, or an older version stored the bot.
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

    /// Whether the trigger runs before the jobs or after them.
    package enum Phase: String, Hashable, Sendable, Codable, CaseIterable { case before, after }

    /// The outcome of the integration that a trigger requires.
    package enum Condition: String, Hashable, Sendable, Codable, CaseIterable {
        /// It had no errors and no failing tests. Warnings are allowed.
        case succeeded
        /// It had no issue at all.
        case clean
        case failed
        /// It succeeded, and the branch's previous integration did not.
        case fixed
        case always
    }

    /// The action of a trigger.
    package enum Action: Hashable, Sendable, Codable {
        /// Runs an executable in `triggers/` beside `bots/`.
        case run(String)
        case publish(VersionSource)
        /// Uploads to a URL with `{product} {version} {branch} {commit} {configuration} {file}`.
        case upload(url: String, credentials: String?)

        package var isRelease: Bool {
            switch self {
            case .run: false
            case .publish, .upload: true
            }
        }
    }

    /// Whether the trigger acts on a ref. No trigger acts on pull requests, regardless of their author and branch names: unmerged code is neither
    /// published nor sent to other machines.
    package func matches(_ ref: RefName) -> Bool {
        ref.pullRequest == nil && RefPattern.isAmong(ref, branches: branches, tags: tags)
    }
}

extension BotSpecification {
    /// Whether a trigger uses what an integration of a ref archives. Triggers that run before the jobs find no products yet, and no products are made
    /// for a trigger that runs only after failures.
    package func usesProducts(of ref: RefName) -> Bool {
        triggers.contains { $0.phase == .after && $0.when != [.failed] && $0.matches(ref) }
    }

    /// Returns the configuration whose products an integration of a ref archives; `nil` if the recipe keeps no products, or if no
    /// trigger uses them and keeping them would take a further build.
    package func archivedConfiguration(of recipe: Recipe, on ref: RefName) -> Name? {
        let isArchived = recipe.archive.isWritten || usesProducts(of: ref) || Self.isInstalled(recipe)
        return isArchived ? recipe.archivedConfiguration : nil
    }

    /// Whether the usual products are the files that the project's own installation copies. That takes no further build, so they are always archived.
    private static func isInstalled(_ recipe: Recipe) -> Bool {
        let name = recipe.archivedConfiguration
        guard let configuration = recipe.configurations.first(where: { $0.name == name }),
            let type = recipe.projectType(of: configuration)
        else { return false }
        return [.cmake, .meson, .autotools].contains(type)
    }

    /// Returns why an integration of a ref archives no products, and how to change that; `nil` if it archives.
    package func whyNotArchived(_ recipe: Recipe, on ref: RefName) -> String? {
        guard archivedConfiguration(of: recipe, on: ref) == nil else { return nil }
        if recipe.archive.include == [] { return "not archived: the recipe says `archive: { include: [] }`" }
        let trigger = ref.pullRequest == nil ? ", and so does a trigger that acts on \(ref.shortName)" : ""
        return "not archived: nothing uses the products; `archive: {}` in the recipe keeps them\(trigger)"
    }
}
