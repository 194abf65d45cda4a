import Glibc
import Hummingbird
import HummingbirdCore
package import Integrations
package import Logging
package import Model
import NIOCore
import ServiceLifecycle
import Settings
package import SignIn
package import Storage
import Synchronization

/// The HTTP server: one application for each address and one for the Unix socket. All answer from one route table.
package struct WebServer: Service, CustomStringConvertible {
    package var description: String { "web" }
    /// The most connections at a time on one address. Further ones wait in the kernel's queue.
    package static let maximumConnections = 4096
    /// The number of connections that the kernel keeps until they are accepted (listen(2), limited by net.core.somaxconn). With the usual 256, a
    /// burst of clients makes others wait a second until their SYN is sent again.
    static let backlog = 4096
    /// The largest size of all header fields of a request together, and of one field, in bytes.
    package static let maximumHeaderBytes = 32 * 1024
    package static let maximumHeaderFields = 100

    private let configuration: WebConfiguration
    private let onListening: @Sendable ([String]) async -> Void
    private let responder: SiteResponder
    private let localResponder: SiteResponder
    let limits: WebLimits
    let answers: LiveAnswers
    let site: Site
    private let logger: Logger

    /// All routes with their access rules.
    package let table: RouteTable

    /// - Parameters:
    ///   - clock: The wall clock, for ages on pages and the times of tokens.
    ///   - fileCache: Caches small files for a while.
    ///   - connections: The most connections at a time on one address.
    ///   - now: The clock for rates of clients.
    ///   - onListening: Called once, when every address is bound, with the addresses as text (`127.0.0.1:8080`; a port 0 is replaced by the actual
    ///     one) and the socket's path last.
    init(
        configuration: WebConfiguration, store: Store, operations: Operations,
        clock: @escaping @Sendable () -> Timestamp, logger: Logger, fileCache: FileCache,
        connections: Int = WebServer.connections(),
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }, openID: OpenIDProvider? = nil,
        onListening: @escaping @Sendable ([String]) async -> Void = { _ in }
    ) {
        let files = FileSender()
        let limits = WebLimits(
            connections: connections, clients: ClientResolver(proxies: configuration.proxies), files: files,
            directory: configuration.state + "/staging", logger: logger, now: now)
        let site = Site(
            configuration: configuration, store: store, operations: operations, files: files, fileCache: fileCache,
            downloads: Downloads(store: store, logger: logger), figures: WorkFigures(store: store, logger: logger),
            templates: Templates(), refusals: RefusalLog(logger: logger, clock: clock), openID: openID, clock: clock,
            logger: logger)
        site.events.follow(store)
        operations.health.watchFiles(DamageRoutes(site: site).conditions)
        let pages = Pages(site: site, logs: LogServer(site: site))
        let table = Self.table(site, pages)
        (self.table, self.limits) = (table, limits)
        let answers = LiveAnswers(store: store) { try await site.isGiven($0) }
        let hosts = ServedHosts(configuration)
        let identification = Identification(
            role: { try await site.caller(with: $0) }, session: { try await site.caller(in: $0) },
            header: configuration.signIn.header, key: site.signInKey, failedLogins: site.failedLogins, clock: clock)
        func made(isLocal: Bool) -> SiteResponder {
            SiteResponder(
                table: table, isLocal: isLocal, anonymousMayRead: configuration.anonymousMayRead,
                openness: { try await site.openness($0) }, makers: { try await site.makers($0) },
                identification: identification, messages: site.messages,
                presentName: { try? await site.store.bot(formerly: $0) },
                errorPage: { await pages.problem($0) }, hosts: hosts, answers: answers, clock: clock,
                base: configuration.base, limits: limits, log: configuration.log, logger: logger,
                refusals: site.refusals)
        }
        responder = made(isLocal: false)
        localResponder = made(isLocal: true)
        self.answers = answers
        self.site = site
        self.configuration = configuration
        self.onListening = onListening
        self.logger = logger
    }

    package init(
        configuration: WebConfiguration, store: Store, operations: Operations,
        clock: @escaping @Sendable () -> Timestamp, logger: Logger, openID: OpenIDProvider? = nil,
        onListening: @escaping @Sendable ([String]) async -> Void = { _ in }
    ) {
        self.init(
            configuration: configuration, store: store, operations: operations, clock: clock, logger: logger,
            fileCache: FileCache(), openID: openID, onListening: onListening)
    }

    private static func table(_ site: Site, _ pages: Pages) -> RouteTable {
        // Before the pages, which have a version in the same place of the path.
        var routes = Feeds(site: site).routes.costing(.list)
        let shown = pages.routes + SignInRoutes(site: site, pages: pages).routes + Actions(site: site).routes
        routes += shown + FileServer(site: site, pages: pages).routes
        routes += BotRoutes(site: site).routes.costing(.list) + PullRequestRoutes(site: site).routes.costing(.list)
        routes += TestRoutes(site: site).routes
        routes +=
            IntegrationRoutes(
                site: site, logs: pages.logs, logEvents: LogEvents(logs: pages.logs),
                artifacts: ArtifactServer(site: site)
            ).routes.costing(.list)
        routes += IssueRoutes(site: site).routes + CoverageRoutes(site: site).routes.costing(.export)
        routes += HandoverRoutes(site: site).routes
        routes += LedgerRoutes(site: site).routes.costing(.list) + OutboxRoutes(site: site).routes.costing(.list)
        routes += RetentionRoutes(site: site).routes.costing(.list) + RegistryRoutes(site: site).routes
        routes += ProductRoutes(site: site).routes.costing(.list) + TokenRoutes(site: site).routes.costing(.list)
        routes += QueueRoutes(site: site).routes.costing(.list) + ControlRoutes(site: site).routes.costing(.list)
        routes += BotCareRoutes(site: site).routes.costing(.list)
        routes += SessionRoutes(site: site).routes.costing(.list) + AuditRoutes(site: site).routes.costing(.list)
        routes += SecretRoutes(site: site).routes.costing(.list)
        routes += EventRoutes(history: site.events).routes + SystemRoutes(site: site).routes
        routes += DamageRoutes(site: site).routes.costing(.list)
        let patterns = Set(shown.map(\.pattern))
        let description = OpenAPI(
            routes: routes.filter { !patterns.contains($0.pattern) }, version: site.configuration.version,
            url: site.configuration.url)
        routes.append(
            Route(.get, "/openapi.json", .open, "This description.") { _ in try .json(description.document()) }
                .costing(.list))
        return RouteTable(routes)
    }

    /// Serves until it is canceled or shut down gracefully: then it accepts no new connection, finishes the answers in progress, and ends streams.
    /// - Throws: `AddressInUse`, or another error if an address cannot be bound. No address is served then.
    package func run() async throws {
        let bound = Bound(expected: configuration.listen.count + (configuration.socket == nil ? 0 : 1))
        var addresses: [Address] = []
        for (index, address) in configuration.listen.enumerated() {
            addresses.append(
                Address(description: address.description) {
                    do {
                        try await serve(responder, .hostname(address.host, port: address.port)) { channel in
                            let port = channel.localAddress?.port ?? address.port
                            await announce(
                                bound, index, WebConfiguration.Address(host: address.host, port: port).description)
                        }
                    } catch let error as IOError where error.errnoCode == EADDRINUSE {
                        throw AddressInUse(address: address.description)
                    }
                })
        }
        if let socket = configuration.socket {
            addresses.append(
                Address(description: socket) {
                    let place = try PrivateSocket(path: socket)
                    defer { place.remove() }
                    try await serve(localResponder, .unixDomainSocket(path: place.binding)) { channel in
                        do {
                            try place.publish()
                            await announce(bound, configuration.listen.count, socket)
                        } catch {
                            logger.error("\(error)")
                            // Without its socket the service cannot be controlled. It ends; the reason was logged above.
                            channel.close(promise: nil)
                        }
                    }
                })
        }
        // Hummingbird's server continues if its task is canceled while it starts, but a graceful shutdown always ends it. An address that cannot be
        // bound therefore shuts the others down.
        let group = ServiceGroup(
            configuration: .init(
                // The last services are stopped first: downloads are counted until no address answers.
                services: [
                    .init(service: site.downloads), .init(service: site.figures), .init(service: FileScrub(site: site)),
                    .init(service: PublicLinks(site: site)), .init(service: answers),
                ]
                    + addresses.map {
                        .init(
                            service: $0, successTerminationBehavior: .gracefullyShutdownGroup,
                            failureTerminationBehavior: .gracefullyShutdownGroup)
                    }, logger: logger))
        try await group.run()
    }

    /// The number of descriptors that are reserved for other uses: the database's readers, mirrors, open logs, running jobs, kept exports. An idle
    /// daemon uses about 45.
    static let reservedDescriptors = 64 + KeptExports.maximumCount

    /// Returns the most connections on one address. Two addresses together then leave the reserved descriptors free.
    static func connections() -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return maximumConnections }
        return min(maximumConnections, max(4, (Int(clamping: limit.rlim_cur) - reservedDescriptors) / 2))
    }

    /// One address, as one of the services.
    private struct Address: Service, CustomStringConvertible {
        let description: String
        let serve: @Sendable () async throws -> Void

        func run() async throws { try await serve() }
    }

    private func announce(_ bound: Bound, _ index: Int, _ address: String) async {
        if let all = bound.add(address, at: index) { await onListening(all) }
    }

    private func serve(
        _ responder: SiteResponder, _ address: BindAddress, onRunning: @escaping @Sendable (any Channel) async -> Void
    ) async throws {
        // Connections are closed before the last place is used; otherwise no new one could be accepted.
        let connections = ConnectionLimit(
            limit: limits.connections - limits.connections / 4, clientLimit: limits.clientConnections,
            onCrowdGone: { [limits] in limits.releaseMemory() })
        let http1 = HTTP1Channel.Configuration(
            additionalChannelHandlers: Self.handlers(connections, limits.clients, site, responder),
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: Self.maximumHeaderBytes, maxHeaderListSize: Self.maximumHeaderBytes,
                maxHeaderFieldCount: Self.maximumHeaderFields))
        // One loop accepts the connections of an address and answers on them. With two loops a connection cost six thread wake-ups.
        let loop = EventLoopGroupProvider.singleton.eventLoopGroup.next()
        let application = Application(
            responder: responder,
            server: HTTPServerBuilder { LoopChannel(http: HTTP1Channel(responder: $0, configuration: http1)) },
            configuration: .init(
                address: address, backlog: Self.backlog,
                availableConnectionsDelegate: MaximumAvailableConnections(limits.connections, logger: logger)),
            onServerRunning: onRunning, eventLoopGroupProvider: .shared(loop), logger: logger)
        try await withTaskExecutorPreference(LoopExecutor(loop: loop)) { try await application.run() }
    }

    /// Returns the channel handlers for a new connection. Peers of the Unix socket are never anonymous.
    private static func handlers(
        _ connections: ConnectionLimit, _ clients: ClientResolver, _ site: Site, _ responder: SiteResponder
    ) -> [any RemovableChannelHandler] {
        let deadlines = RequestDeadlines(connections: connections, clients: clients)
        return responder.isLocal
            ? [deadlines]
            : [
                deadlines,
                CachedFileAnswers(fileCache: site.fileCache, date: site.date, hosts: responder.hosts) {
                    [downloads = site.downloads] in downloads.count($0)
                },
            ]
    }

    /// The addresses that are bound so far.
    private final class Bound: Sendable {
        private let addresses: Mutex<[Int: String]> = Mutex([:])
        private let expected: Int

        init(expected: Int) { self.expected = expected }

        /// Adds a bound address.
        /// - Returns: All addresses in order, once the last one is bound; before that `nil`.
        func add(_ address: String, at index: Int) -> [String]? {
            addresses.withLock { addresses in
                addresses[index] = address
                guard addresses.count == expected else { return nil }
                return addresses.sorted { $0.key < $1.key }.map(\.value)
            }
        }
    }
}
