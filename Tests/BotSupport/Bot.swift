import Basics
package import Execution
import ExecutionSupport
import Foundation
package import Integrations
package import Jobs
import Logging
package import Model
import Releases
package import Settings
package import SourceControl
package import Storage
package import TestSupport
import Testing
import Transfer
package import martlet

/// A running service with one bot, for tests, made by `withBot`. It has a real store, a real repository, real mirrors and published files on a real
/// disk. The executor is the real one or the scripted one.
///
/// Time stands still: the poller makes its first round and waits for `timer`. Pushes of tests are announced by a signed push, as by a git server's
/// hook.
package final class Bot: Sendable {
    package let name: Name
    package let plan: BotPlan
    package let directory: TemporaryDirectory
    package let state: StateDirectory
    /// A work tree whose branches are pushed to `remote`.
    package let work: GitRepository
    /// The bot's repository.
    package let remote: GitRepository
    package let secrets: SecretStore
    package let transport: FakeTransport
    package let log: RecordingLogger
    package let identifiers = SeededIdentifiers()
    /// The clock of the poller, and of the pauses between scans.
    package let timer = ManualClock()
    package let time: TestTime
    package let executor: any Executor
    let sourceLocation: SourceLocation
    private let isolation: Locked<JobIsolation>
    private let running = Locked<Running?>(nil)

    /// The service while it runs.
    private struct Running: Sendable {
        var service: IntegrationService
        var store: Store
        var task: Task<Void, any Error>
    }

    init(
        name: Name, plan: BotPlan, directory: TemporaryDirectory, transport: FakeTransport, log: RecordingLogger,
        sourceLocation: SourceLocation
    ) async throws {
        self.name = name
        self.plan = plan
        self.directory = directory
        self.transport = transport
        self.log = log
        self.sourceLocation = sourceLocation
        isolation = Locked(plan.isolation)
        time = TestTime()
        state = StateDirectory(path: plan.state ?? directory.path("state"))
        try state.create()
        remote = try await GitRepository.make(at: directory.path("kit.git"), isBare: true)
        work = try await GitRepository.make(at: directory.path("work"))
        secrets = SecretStore(directory: directory.path("secrets"), credentialsDirectory: nil)
        try secrets.set("\(name)-webhook", "It's a Secret to Everybody")
        switch plan.executor {
        case .scripted(let scripted): executor = scripted
        case .other(let other): executor = other
        case .local:
            executor = LocalExecutor(
                socket: state.launcherSocket, supervisor: try TestTools.builtProduct("martlet-supervisor"))
        }
        try directory.makeDirectory("home")
        try writeFile(plan.file)
        for (script, text) in plan.scripts { try directory.write("triggers/\(script)", text, mode: 0o755) }
    }

    /// Writes the bot's file again. The poller reads it after `timer.advance(by:)`.
    package func writeFile(_ lines: String, repository: String? = nil) throws {
        try directory.write(
            "bots/\(name).yml",
            """
            repository: \(repository ?? remote.path)
            poll: off
            webhook: { secret: \(name)-webhook }
            \(lines.replacing("{directory}", with: directory.path))
            """)
    }

    // MARK: The service

    package var service: IntegrationService { get throws { try required().service } }
    package var store: Store { get throws { try required().store } }
    package var operations: Operations { get throws { try required().service.operations } }

    package var isRunning: Bool { running.value != nil }

    private func required() throws -> Running {
        guard let running = running.value else { throw BotFailure("the service was stopped; say start() first") }
        return running
    }

    /// Opens the store and starts the service on what an earlier one left. Returns when the service has read the bot's file and looked at the
    /// repository.
    package func start() async throws {
        let store = try Store.open(path: state.database)
        let service = try IntegrationService(try parts(store))
        running.withLock { $0 = Running(service: service, store: store, task: Task { try await service.run() }) }
        try await wait("the first look at \(remote.path)") { store -> Bool? in
            let repositories = try await store.bots()
            guard let url = repositories.first?.repository, let found = try await store.repository(url)
            else { return nil }
            return found.isScanRequested && found.lastError == nil ? nil : true
        }
        await timer.awaitSleepers(Self.restingSleepers)
    }

    /// The number of tasks that wait for `timer` when there is no work: the poller and retention.
    package static let restingSleepers = 2

    /// Returns the parts of the service, for tests that build one of them.
    package func parts(_ store: Store) throws -> IntegrationService.Parts {
        let settings = ServiceSettings(
            url: "http://martlet.example", state: state.path, bots: directory.path("bots"),
            concurrency: plan.concurrency, secrets: directory.path("secrets"), mail: plan.mail, signing: plan.signing)
        return IntegrationService.Parts(
            settings: settings, state: state, store: store, directory: BotDirectory(directory: settings.bots),
            secrets: secrets, mirrors: mirrors, executor: executor,
            uploader: Uploads(
                uploader: Uploader(transport: transport, identifiers: identifiers), secrets: secrets,
                retries: UploadRetries(backoff: Backoff(first: .zero, limit: .zero))),
            transport: transport, mailTransport: plan.mailTransport ?? transport, clock: time.clock, timer: timer,
            environment: [
                "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": directory.path("home"),
            ],
            tools: try TestTools.builtProduct("martlet-tools"), reader: try .built(),
            isolation: isolation.value, version: "test",
            logger: log.logger)
    }

    /// Mirrors that read no user's git configuration.
    package var mirrors: Mirrors {
        Mirrors(directory: state.repositories, configuration: GitConfiguration(files: []))
    }

    /// Stops the service as a restart of the daemon does: it awaits its work, and jobs continue.
    package func stop() async throws {
        guard
            let stopped = running.withLock({ running in
                defer { running = nil }
                return running
            })
        else { return }
        stopped.task.cancel()
        let result = await stopped.task.result
        try stopped.store.close()
        do { try result.get() } catch is CancellationError { return }
    }

    /// Restarts the service.
    /// - Parameter isolation: The isolation of jobs from then on; `nil` leaves it unchanged.
    package func restart(isolation: JobIsolation? = nil) async throws {
        try await stop()
        if let isolation { self.isolation.withLock { $0 = isolation } }
        try await start()
    }
}

/// An error of the fixture itself.
package struct BotFailure: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
