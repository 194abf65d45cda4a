import Basics
import Execution
import Foundation
import Integrations
import Jobs
import Logging
import Model
import Releases
import ServiceLifecycle
import Settings
import SignIn
import SourceControl
import Storage
import Transfer
import Web

extension Serve {
    /// The composition root: the only place that knows every concrete type.
    final class Build {
        let logger = Logger(label: "martlet")
        private let settings: ServiceSettings
        private let location: SettingsLocation
        private let state: StateDirectory
        private let socket: String
        private let log: LogControl
        private let store: Store
        /// Held for as long as the daemon runs.
        private let lock: FileLock
        /// `nil` until this boot of the machine is recorded.
        private var boot: BootRecord?

        /// - Throws: `Failure` when another daemon works on this state, or it cannot be opened.
        init(settings: ServiceSettings, location: SettingsLocation, socket: String?, log: LogControl) throws {
            self.log = log
            self.settings = settings
            self.location = location
            state = StateDirectory(path: settings.state)
            let environment = ProcessInfo.processInfo.environment
            self.socket =
                socket ?? environment["RUNTIME_DIRECTORY"].map { $0.split(separator: ":")[0] + "/martlet.socket" }
                ?? state.serviceSocket
            do {
                if let words = state.releaseReserve() {
                    logger.error("the disk is full", metadata: ["disk": "\(words)"])
                }
                if let mode = try state.create() {
                    logger.warning(
                        "the state directory was open to other users; it was closed",
                        metadata: ["path": "\(settings.state)", "mode": "\(String(mode, radix: 8))"])
                }
                guard let lock = try FileLock(path: state.lock, contents: "\(getpid())\n") else {
                    let other = (try? WholeFile.read(state.lock, limit: 64)).map { String(decoding: $0, as: UTF8.self) }
                    throw Failure(
                        .unavailable,
                        "another daemon uses the state directory \(settings.state) (process "
                            + "\(other?.trimmingCharacters(in: .whitespacesAndNewlines) ?? "?")); "
                            + "stop it first, or give this one a `state:` of its own")
                }
                self.lock = lock
                guard access(state.restoring, F_OK) != 0 else {
                    throw Failure(
                        .unavailable,
                        "the state directory \(settings.state) is incomplete, because a restore was interrupted; run "
                            + "`martlet restore DIRECTORY` again, which begins anew")
                }
                store = try Store.open(path: state.database)
            } catch let error as FileError {
                throw Failure(.cannotCreate, "the state directory \(settings.state) cannot be used: \(error.message)")
            } catch let error as StoreError {
                throw Failure(.unavailable, "\(error)")
            }
        }

        func services() async throws -> [any Service] {
            let environment = ProcessInfo.processInfo.environment
            let audit = SettingsAudit(store: store, location: location, logger: logger)
            await audit.record()
            let web = webConfiguration
            if let refusal = web.refusalToListen(hasTokens: try await store.hasTokens()) {
                throw Failure(.configuration, refusal)
            }
            let (supervisor, tools) = (try OwnPrograms.supervisor(), try OwnPrograms.tools())
            let launcher = LauncherPlace.socket(of: state)
            let isolation = try await MachineIsolation.decide(
                settings, supervisor: supervisor, tools: tools, launcher: launcher,
                wasSandboxed: try await store.hasSandboxedAttempts(),
                hadOwnNetwork: state.hadOwnNetwork)
            if isolation.hasOwnNetwork { try state.rememberOwnNetwork() }
            warn(of: isolation)
            let reader = try OwnPrograms.reader()
            let secrets = SecretStore(
                directory: settings.secrets, credentialsDirectory: environment["CREDENTIALS_DIRECTORY"])
            let known = try await store.specifications()
            let (mirrors, place) = (Mirrors(directory: state.repositories), state.path)
            await recordBoot(mirrors)
            let clusters = try Clusters.executors(settings)
            var parts = IntegrationService.Parts(
                settings: settings, state: state, store: store,
                directory: BotDirectory(directory: settings.bots, lastGood: known), secrets: secrets,
                mirrors: mirrors,
                executor: Executors(
                    local: LocalExecutor(socket: launcher, supervisor: supervisor), clusters: clusters),
                uploader: Uploads(uploader: Uploader(transport: try CurlTransport()), secrets: secrets),
                // Of its own, so that no upload's file delays a status.
                transport: try CurlTransport(),
                // Nor a mail server that does not answer the farewell, for which libcurl holds its thread up.
                mailTransport: try CurlTransport(), environment: environment, tools: tools,
                reader: reader, isolation: isolation,
                probe: {
                    await MachineIsolation.troubles(
                        of: isolation, supervisor: supervisor, tools: tools, launcher: launcher,
                        isManaged: LauncherPlace.isOfTheMachine(launcher))
                }, version: Martlet.version,
                toolchain: { await ToolchainVersion.swift(within: place) },
                logger: logger)
            parts.clusters = clusters
            let integrations = try IntegrationService(parts)
            try await integrations.prepare()
            let notifier = SystemdNotifier(environment: environment)
            let (logger, store) = (logger, store)
            let (listening, isListening) = AsyncStream.makeStream(of: Never.self)
            let server = WebServer(
                configuration: web, store: store, operations: integrations.operations, clock: WallClock.system.now,
                logger: logger, openID: try openID(secrets),
                onListening: { addresses in
                    logger.notice("listening", metadata: ["on": "\(addresses.joined(separator: ", "))"])
                    notifier.ready()
                    isListening.finish()
                })
            let traces = try settings.traces.map { traces in
                TraceExporter(
                    settings: traces, store: store, secrets: secrets, transport: try CurlTransport(), clock: .system,
                    url: url, version: Martlet.version, logger: logger)
            }
            return (traces.map { [$0] } ?? []) + [
                integrations, server, StatusService(store: store, notifier: notifier, logger: logger),
                MachineReport(reader: reader, mirrors: mirrors, listening: listening, logger: logger),
                ReloadService(
                    location: location, settings: settings, integrations: integrations, audit: audit, log: log,
                    notifier: notifier,
                    logger: logger),
            ]
        }

        /// Logs that jobs are less separated from the machine than they could be.
        private func warn(of isolation: JobIsolation) {
            if let reason = isolation.isolation.reason {
                logger.warning("jobs run without a sandbox", metadata: ["isolation": "none", "reason": "\(reason)"])
            }
            if let reason = isolation.loopback?.reason {
                logger.warning(
                    "steps with the network reach the machine's loopback",
                    metadata: ["isolation": "sandbox", "reason": "\(reason)"])
            }
        }

        private var webConfiguration: WebConfiguration {
            var web = WebConfiguration(
                listen: settings.listen.map { .init(host: $0.host, port: $0.port) }, socket: socket, state: state.path,
                url: url, hosts: settings.hosts, anonymousMayRead: settings.anonymous == .read,
                version: Martlet.version,
                proxies: settings.proxies, signIn: settings.signIn)
            web.auditAge = settings.auditAge
            web.log = log
            return web
        }

        /// Returns the OpenID Connect provider of the settings; `nil` if they name none.
        private func openID(_ secrets: SecretStore) throws -> OpenIDProvider? {
            guard let provider = settings.signIn.openID else { return nil }
            let queue = SerialQueue(label: "sign-in-secret")
            // A transport of its own, so that nobody who signs in waits for an upload.
            return OpenIDProvider(
                settings: provider, transport: try CurlTransport(), now: WallClock.system.now,
                secret: {
                    guard let name = provider.secret else { return nil }
                    guard
                        let value = try await queue.run({ () throws(SettingsError) in try secrets.value(name) })
                    else {
                        throw Failure(
                            .configuration,
                            "the secret \(name) is not set; set it with `martlet secret set \(name)`")
                    }
                    return value
                })
        }

        /// Doubts what a stop of the machine may have damaged, before anything uses it.
        private func recordBoot(_ mirrors: Mirrors) async {
            let state = state
            do {
                let (record, finding) = try await SerialQueue(label: "boot").run {
                    let record = BootRecord(state: state, boot: .current())
                    return (record, try record.begin(mirrors))
                }
                boot = record
                guard case .doubted(let mirrors, let workspaces) = finding, mirrors + workspaces > 0 else { return }
                logger.notice(
                    "the machine may have stopped while the service worked: mirrors are verified by their next fetch, builds begin from scratch",
                    metadata: ["mirrors": "\(mirrors)", "workspaces": "\(workspaces)"])
            } catch {
                // The service starts, as on a full disk. The next start doubts.
                logger.error(
                    "some of what a stop of the machine may have damaged cannot be marked, and is used as it is",
                    metadata: ["error": "\(error)", "next": "\(BootRecord.advice(for: error))"])
            }
        }

        /// Closes the database, and records that nothing is left in memory alone.
        func close() async {
            // Unknown counts as yes: then more is doubted than is needed.
            let hasJobs = (try? await store.hasUnfinishedAttempts()) ?? true
            do {
                try store.close()
            } catch {
                logger.error("the database could not be closed", metadata: ["error": "\(error)"])
            }
            guard let boot else { return }
            do {
                try await SerialQueue(label: "boot").run { () throws(FileError) in try boot.end(hasJobs: hasJobs) }
            } catch {
                logger.warning(
                    "the state directory could not be written to the disk; if the machine stops now, mirrors are verified and builds begin from scratch",
                    metadata: ["error": "\(error)"])
            }
        }

        private var url: String {
            settings.url ?? settings.listen.first.map { "http://\($0)" } ?? "http://127.0.0.1:8080"
        }
    }
}
