package import Basics
package import Execution
package import Jobs
import Logging
package import Notifications
package import Releases
import ServiceLifecycle
package import Settings
import SourceControl
package import Storage
import Transfer

/// Polls, scans, schedules and runs integrations, as a service of a service group.
package struct IntegrationService: Service, CustomStringConvertible {
    package var description: String { "integrations" }
    /// The operations for the HTTP interface.
    package let operations: Operations
    private let poller: Poller
    private let upgrades: Upgrades?
    private let scans: RepositoryScans
    private let scheduler: Scheduler
    private let circuitBreaker: CircuitBreaker
    private let publisher: Publisher
    private let jobs: JobRunner
    private let triggers: TriggerRunner
    private let compression: LogCompression
    let retention: RetentionService
    private let slots: JobSlots
    private let outbox: Outbox
    private let operatorNotices: OperatorNotices
    private let operators: OperatorPlace
    private let store: Store
    private let queueSignal: Signal

    package init(
        operations: Operations, poller: Poller, upgrades: Upgrades?, scans: RepositoryScans, scheduler: Scheduler,
        circuitBreaker: CircuitBreaker, publisher: Publisher, jobs: JobRunner, triggers: TriggerRunner,
        compression: LogCompression, retention: RetentionService, slots: JobSlots, outbox: Outbox,
        operatorNotices: OperatorNotices, operators: OperatorPlace, store: Store, queueSignal: Signal
    ) {
        self.operations = operations
        self.poller = poller
        self.upgrades = upgrades
        self.scans = scans
        self.scheduler = scheduler
        self.circuitBreaker = circuitBreaker
        self.publisher = publisher
        self.jobs = jobs
        self.triggers = triggers
        self.compression = compression
        self.retention = retention
        self.slots = slots
        self.outbox = outbox
        self.operatorNotices = operatorNotices
        self.operators = operators
        self.store = store
        self.queueSignal = queueSignal
    }

    /// Applies the settings that can change while the service runs (`SettingsChange.applied`). Then reads the bot files.
    /// - Throws: `StoreError` if the bots cannot be stored.
    package func reload(_ settings: ServiceSettings) async throws {
        slots.resize(to: settings.concurrency)
        await scheduler.setCapacity(settings.runningIntegrations)
        retention.limit(by: settings.retention, caches: settings.caches, audit: settings.auditAge)
        operators.set(settings.operators)
        operations.health.settings.apply(settings)
        try await poller.reload()
    }

    /// Reads the bots, and reconciles the state that an earlier daemon left, so that later queries get correct answers. May be called again before
    /// `run()`.
    package func prepare() async throws {
        try await operations.control.endEarlierDrain()
        await operations.care.settle()
        try await poller.reload()
        try await publisher.reconcile()
        try await jobs.reacquire(of: try await store.running().map(\.id))
    }

    /// Prepares, then works until graceful shutdown or cancellation. Jobs that run at that time continue without the service.
    package func run() async throws {
        try await prepare()
        // They are taken before any job starts, and removed while jobs run.
        let left = await jobs.acquireLeftWorkspaces()
        let changes = store.changes()
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask { await self.poller.run() }
                group.addTask { await self.upgrades?.run() }
                group.addTask { await self.scans.run() }
                group.addTask { await self.scheduler.run() }
                group.addTask { await self.circuitBreaker.run() }
                group.addTask { await self.compression.run() }
                group.addTask { await self.retention.run() }
                group.addTask { for workspace in left { await self.jobs.release(workspace) } }
                group.addTask { await self.triggers.removeLeftWork() }
                group.addTask { await self.outbox.run() }
                group.addTask { await self.operations.health.run() }
                group.addTask { await self.operatorNotices.run() }
                group.addTask {
                    for await change in changes {
                        if case .queued = change { self.queueSignal.notify() }
                    }
                }
            }
        }
    }
}
