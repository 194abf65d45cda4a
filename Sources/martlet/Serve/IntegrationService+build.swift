package import Basics
package import Execution
import Forges
package import Integrations
package import Jobs
package import Logging
package import Model
import Notifications
package import Releases
package import Settings
package import SourceControl
package import Storage
package import Transfer

extension IntegrationService {
    /// The parts that the service is built from. It contains every part that tests replace.
    package struct Parts: Sendable {
        package var settings: ServiceSettings
        package var state: StateDirectory
        package var store: Store
        package var directory: BotDirectory?
        package var secrets: SecretStore
        package var mirrors: Mirrors
        package var executor: any Executor
        /// The clusters of the settings, by name. `executor` starts their jobs, too.
        package var clusters: [Name: SlurmExecutor] = [:]
        package var uploader: Uploads
        /// The transport for the HTTP messages of the outbox.
        package var transport: any Transport
        /// The transport for its mails.
        package var mailTransport: any Transport
        package var clock: WallClock
        package var timer: any Clock<Duration>
        /// The daemon's environment; jobs inherit little of it.
        package var environment: [String: String]
        /// The absolute path of `martlet-tools`.
        package var tools: String
        /// Reads reports and logs.
        package var reader: ReaderProgram
        package var isolation: JobIsolation
        /// Examines the launcher and the sandbox.
        package var probe: ServiceHealth.Probe
        package var version: String
        /// The machine's boot, with which a drain ends.
        package var boot: MachineBoot
        /// Returns the version of the machine's toolchain, or `nil` if there is none; `nil`: the version is not determined.
        package var toolchain: (@Sendable () async -> String?)?
        package var logger: Logger

        package init(
            settings: ServiceSettings, state: StateDirectory, store: Store, directory: BotDirectory?,
            secrets: SecretStore, mirrors: Mirrors, executor: any Executor, uploader: Uploads,
            transport: any Transport, mailTransport: any Transport,
            clock: WallClock = .system,
            timer: any Clock<Duration> = ContinuousClock(), environment: [String: String], tools: String,
            reader: ReaderProgram, isolation: JobIsolation, probe: @escaping ServiceHealth.Probe = { [] },
            version: String, boot: MachineBoot = .current(),
            toolchain: (@Sendable () async -> String?)? = nil,
            logger: Logger
        ) {
            self.settings = settings
            self.state = state
            self.store = store
            self.directory = directory
            self.secrets = secrets
            self.mirrors = mirrors
            self.executor = executor
            self.uploader = uploader
            self.transport = transport
            self.mailTransport = mailTransport
            self.clock = clock
            self.timer = timer
            self.environment = environment
            self.tools = tools
            self.reader = reader
            self.isolation = isolation
            self.probe = probe
            self.version = version
            self.boot = boot
            self.toolchain = toolchain
            self.logger = logger
        }
    }

    /// Connects the parts: the composition root of everything that works without a web server.
    /// - Throws: `ArchiveError` if the file server's tree cannot be opened.
    package init(_ parts: Parts) throws {
        let (store, clock, logger) = (parts.store, parts.clock, parts.logger)
        let (scansSignal, queueSignal) = (Signal(), Signal())
        let versions = try VersionStore(files: parts.state.files, staging: parts.state.staging)
        // No bot can use the keys of signatures, whatever its file names.
        let secrets = parts.secrets.withholding(parts.settings.signing, of: "signing")
            .withholding(parts.settings.signIn.openID?.secret, of: "sign-in")
            .withholding(values: versions.isSigningKey)
        let registry = BotRegistry(
            directory: parts.directory, settings: parts.settings, secrets: secrets,
            isolation: parts.isolation.isolation, loopbackReason: parts.isolation.loopback?.reason,
            version: parts.version)
        let remotes = Remotes(mirrors: parts.mirrors, secrets: secrets)
        let url = parts.settings.url ?? parts.settings.listen.first.map { "http://\($0)" } ?? ""
        let environment = JobEnvironment(daemon: parts.environment, url: url)
        let publisher = Publisher(
            store: store, versions: versions,
            attestor: Attestor(
                secrets: parts.secrets, key: parts.settings.signing,
                submodules: { try await remotes.submodules(of: $0, in: $1, for: $2) }, url: url, version: parts.version,
                isolation: parts.isolation.isolation),
            clock: clock, logger: logger)
        let marks: CrashMarks?
        do {
            marks = try CrashMarks(directory: parts.state.path, version: parts.version)
        } catch {
            // The service starts even on a full disk, and logs a warning.
            logger.warning("traps that end the daemon are not recorded", metadata: ["error": "\(error)"])
            marks = nil
        }
        let slots = JobSlots(count: parts.settings.concurrency)
        let workspaces = Workspaces(root: parts.state.workspaces)
        let jobs = JobRunner(
            store: store, state: parts.state, workspaces: workspaces,
            executor: parts.executor, planner: JobPlanner(tools: parts.tools), reader: parts.reader,
            slots: slots, archiver: ProductArchiver(state: parts.state),
            clock: clock, timer: parts.timer, environment: environment, isolation: parts.isolation,
            secrets: secrets, logger: logger, executors: Self.executors(parts, local: slots))
        let access = RefusedAccess()
        let triggers = TriggerRunner(
            store: store, state: parts.state, executor: parts.executor, publisher: publisher,
            uploads: parts.uploader.with(secrets), scripts: parts.settings.triggers, secrets: secrets,
            environment: environment, isolation: parts.isolation, clock: clock, timer: parts.timer, jobs: jobs,
            refusals: access, logger: logger)
        let circuitBreaker = CircuitBreaker(clock: clock, timer: parts.timer, signal: queueSignal)
        let runner = IntegrationRunner(
            store: store, registry: registry, remotes: remotes, jobs: jobs, triggers: triggers,
            circuitBreaker: circuitBreaker, clock: clock, logger: logger, marks: marks)
        let scheduler = Scheduler(
            store: store, runner: runner, capacity: parts.settings.runningIntegrations, signal: queueSignal,
            cancellationRequests: CancellationRequests(state: parts.state), circuitBreaker: circuitBreaker,
            timer: parts.timer,
            logger: logger)
        let compression = LogCompression(store: store, state: parts.state, logger: logger)
        let survey = DiskSurvey(state: parts.state)
        let caches = CacheCare(
            store: store, state: parts.state, workspaces: workspaces, mirrors: parts.mirrors, survey: survey,
            clock: clock, logger: logger)
        let retention = RetentionService(
            store: store, state: parts.state, retention: parts.settings.retention, caches: caches,
            cacheLimits: parts.settings.caches, remotes: remotes, clock: clock, timer: parts.timer, logger: logger)
        retention.limit(
            by: parts.settings.retention, caches: parts.settings.caches, audit: parts.settings.auditAge)
        let forges = ForgeAccess(
            store: store, bots: registry, secrets: secrets, transport: parts.transport, clock: clock, url: url
        )
        let outbox = Outbox(
            store: store,
            senders: [
                ForgeStatusSender(forges), ForgeCommentSender(forges),
                MailSender(
                    store: store, bots: registry, settings: parts.settings.mail, secrets: secrets,
                    transport: parts.mailTransport, url: url),
                WebhookSender(
                    store: store, bots: registry, secrets: secrets, transport: parts.transport, clock: clock,
                    url: url),
            ], clock: clock, timer: parts.timer, logger: logger, access: access)
        let scans = RepositoryScans(
            store: store, registry: registry, remotes: remotes, clock: clock, timer: parts.timer, signal: scansSignal,
            logger: logger, marks: marks, mayFetch: { [disk = jobs.disk] in disk.shortage == nil },
            access: access
        ) { [scheduler] id, run, reason in
            try await scheduler.cancel(id, run: run, Cancellation.Request(reason: reason))
        }
        let examined = Signal()
        let health = ServiceHealth(
            store: store, registry: registry, disk: jobs.disk, places: [parts.state.path, parts.state.workspaces],
            settings: parts.settings, secrets: parts.secrets, probe: parts.probe, access: access, clock: clock,
            examined: examined)
        let place = OperatorPlace(parts.settings.operators)
        let operatorNotices = OperatorNotices(
            store: store,
            senders: [
                ConditionMailSender(
                    place: place, mail: parts.settings.mail, secrets: parts.secrets, transport: parts.mailTransport,
                    url: url),
                ConditionWebhookSender(
                    place: place, secrets: parts.secrets, transport: parts.transport, clock: clock, url: url),
            ], clock: clock, logger: logger, signal: examined,
            troubles: { health.isExamined ? health.troubles : nil })
        let poller = Poller(
            store: store, registry: registry, state: parts.state, clock: clock, timer: parts.timer, scans: scansSignal,
            logger: logger,
            eachTick: { [disk = jobs.disk, mirrors = parts.mirrors] in
                await mirrors.closeUnused()
                await disk.tend()
                health.tick()
            })
        let upgrades = parts.toolchain.map {
            Upgrades(store: store, registry: registry, clock: clock, timer: parts.timer, logger: logger, version: $0)
        }
        let operations = Operations(
            registry: registry,
            intake: EventIntake(store: store, registry: registry, clock: clock, scans: scansSignal, logger: logger),
            requests: UserRequests(
                store: store, registry: registry, remotes: remotes, scheduler: scheduler, clock: clock,
                queue: queueSignal,
                logger: logger),
            publisher: publisher, board: parts.uploader.board, retention: retention, disk: jobs.disk,
            runner: runner, health: health,
            control: ServiceControl(
                store: store, scheduler: scheduler, boot: parts.boot, clock: clock, queue: queueSignal, logger: logger),
            care: BotCare(
                store: store, registry: registry, state: parts.state, retention: retention, caches: caches,
                survey: survey, remotes: remotes, clock: clock, logger: logger),
            survey: survey,
            secrets: SecretSurvey(
                store: store, registry: registry, settings: health.settings, secrets: parts.secrets, clock: clock))
        self.init(
            operations: operations, poller: poller, upgrades: upgrades, scans: scans, scheduler: scheduler,
            circuitBreaker: circuitBreaker, publisher: publisher, jobs: jobs, triggers: triggers,
            compression: compression, retention: retention, slots: slots, outbox: outbox,
            operatorNotices: operatorNotices, operators: place,
            store: store, queueSignal: queueSignal)
    }

    /// Returns the executors of the settings, in their order.
    /// - Parameter local: The slots of this machine.
    private static func executors(_ parts: Parts, local: JobSlots) -> ExecutorChoice {
        let toolchain = parts.toolchain
        let candidates = parts.settings.executors.map { executor -> ExecutorChoice.Candidate in
            guard let slurm = executor.slurm else {
                return .init(name: executor.name, slots: local) {
                    [await LocalMachine.offer(swift: (await toolchain?()) ?? nil)]
                }
            }
            let cluster = parts.clusters[executor.name]
            return .init(name: executor.name, work: slurm.work, slots: JobSlots(count: slurm.jobs)) {
                await cluster?.machines()
            }
        }
        return ExecutorChoice(candidates, preferred: parts.settings.defaultExecutor)
    }
}
