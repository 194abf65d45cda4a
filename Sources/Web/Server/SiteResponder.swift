import Basics
import HTTPTypes
import Hummingbird
import Integrations
import Logging
import Model
import NIOCore
import NIOHTTP1
import Storage

/// A request's connection, for what is sent past the writer of bodies.
struct SiteContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    let departure: ClientDeparture

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
        departure = ClientDeparture.ofConnection ?? ClientDeparture()
    }
}

/// Answers every request: finds the route, authenticates and authorizes the caller, and turns errors into problems that tell outsiders no more than
/// they need.
struct SiteResponder: HTTPResponder {
    typealias Context = SiteContext

    let table: RouteTable
    /// Whether requests come over the unix socket, whose peer is an admin.
    let isLocal: Bool
    let anonymousMayRead: Bool
    /// Whether anybody may read what a route of products shows, and whether all are shown the same.
    let openness: @Sendable (ProductScope) async throws -> (mayRead: Bool, isSame: Bool)
    let role: @Sendable (BearerToken) async throws -> Caller?
    let errorPage: @Sendable (Problem) async -> Response
    let hosts: ServedHosts
    let failedLogins: FailedLogins
    let answers: LiveAnswers
    let clock: @Sendable () -> Timestamp
    /// The path under which a proxy serves the service; empty: none.
    let base: String
    /// Shared by both responders and all connections.
    let limits: WebLimits

    @concurrent func respond(to request: Request, context: Context) async throws -> Response {
        var response: Response
        let client = limits.clients.client(
            ofRequestFrom: IPAddress(context.channel.remoteAddress),
            forwarded: HTTPField.Name("X-Forwarded-For").map { request.headers[values: $0] } ?? [])
        // Whether all are answered the same.
        var isSame = anonymousMayRead
        do {
            response = try await answer(request, of: client, in: context, &isSame)
        } catch let problem as Problem where problem.status == 421 {
            // A page of another site may read this answer: it says nothing more.
            response = problem.response
        } catch let problem as Problem {
            response = await present(problem, for: request, of: client)
        } catch let error as OperationError {
            if error.code == .internal { log(error.underlying ?? error, request, context.logger) }
            response = await present(Problem(error), for: request, of: client)
        } catch is HTTPParserError {
            response = await present(Problem(400, "The request is malformed."), for: request, of: client)
        } catch is CancellationError where context.departure.hasLeft {
            // `StrictRequests` closes the connection. Closing it here would drop the bytes of earlier answers that the kernel has not accepted yet.
            response = Response(status: .serviceUnavailable, headers: [.connection: "close"])
        } catch is CancellationError {
            response = await present(Problem(503, "The service is stopping."), for: request, of: client)
        } catch {
            log(error, request, context.logger)
            response = await present(.internal, for: request, of: client)
        }
        RegistryRoutes.mark(&response, path: path(of: request))
        if !base.isEmpty, let place = response.headers[.location], place.hasPrefix("/") {
            response.headers[.location] = base + place
        }
        SecurityHeaders(isPublic: isSame).apply(to: &response)
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func answer(
        _ request: Request, of client: IPAddress?, in context: Context, _ isSame: inout Bool
    ) async throws -> Response {
        let channel = context.channel
        let path = path(of: request)
        Failpoint.trap("request \(path)")
        if !isLocal, let refusal = hosts.refusal(of: request.head.authority) {
            isSame = false
            throw refusal
        }
        let route: Route
        let parameters: [String: String]
        switch table.match(request.method, path: path) {
        case .nothing: throw Problem.notFound
        case .otherMethods(let methods):
            var problem = Problem(405, "This path takes \(methods.joined(separator: ", ")).")
            problem.allow = methods.joined(separator: ", ")
            throw problem
        case .route(let found, let values): (route, parameters) = (found, values)
        }
        try refuseForeign(request, route)
        var token: BearerToken?
        let address = client ?? IPAddress(channel.remoteAddress)?.network
        let caller =
            route.access == .signature || route.access == .open
            ? .anonymous : try await caller(of: request, from: address, acceptsBasic: route.acceptsBasic, &token)
        var mayRead = anonymousMayRead
        if route.access == .product {
            // Until it is known, nobody else may keep the answer.
            isSame = false
            (mayRead, isSame) = try await openness(ProductScope(parameters))
        }
        if let refusal = route.access.refusal(of: caller, anonymousMayRead: mayRead) { throw refusal }
        let permit: LiveAnswers.Permit? =
            token.map { .token($0.hash) }
            ?? (route.access == .product && !isLocal ? .product(ProductScope(parameters)) : nil)
        // Before it is computed: the right may be taken away meanwhile.
        let live = route.cost.lasts ? permit.map { answers.begin($0, over: channel) } : nil
        var asked = request
        if let list = request.headers[.ifNoneMatch], AcceptedCodings(request.headers[.acceptEncoding]).prefersGzip {
            var head = request.head
            head.headerFields[.ifNoneMatch] = ContentCoding.decoded(list)
            asked = Request(head: head, body: request.body)
        }
        let call = AuthorizedRequest(
            request: asked, channel: channel, departure: context.departure, caller: caller, parameters: parameters,
            bodyLimit: route.bodyLimit, client: client, limits: limits)
        var response = try await limits.answer(call, cost: route.cost) {
            try await route.handler(call).conditional(for: call)
        }
        if route.cost != .download { response.nameForm(of: request) }
        if let live { response.body = live.holding(response.body) }
        return response
    }

    /// The path without its query. A proxy that serves the service under a path may pass that path on or remove it.
    private func path(of request: Request) -> String {
        let path = String((request.head.path ?? "").prefix { $0 != "?" })
        guard !base.isEmpty, path == base || path.hasPrefix(base + "/"),
            case .nothing = table.match(request.method, path: path)
        else { return path }
        return path == base ? "/" : String(path.dropFirst(base.count))
    }

    /// Refuses requests of pages of other sites that would change something, or read what is not open to everybody. Browsers name the origin of
    /// such a page; other clients do not.
    /// - Throws: 403.
    private func refuseForeign(_ request: Request, _ route: Route) throws(Problem) {
        let isPublic = route.access == .open || route.access == .product
        guard !isLocal, route.access != .signature, route.method != .get || !isPublic else { return }
        let origin = request.headers[.origin]
        let site = HTTPField.Name("Sec-Fetch-Site").flatMap { request.headers[$0] }
        let isForeign =
            origin.map { !hosts.isOwn(origin: $0, authority: request.head.authority) } ?? false
            || route.method != .get && site == "cross-site"
        if isForeign { throw Problem(403, "A page of another site may not ask for this.") }
    }

    /// - Parameters:
    ///   - address: The address that failures are counted for.
    ///   - known: Set to the token that identifies the caller.
    /// - Throws: 401 for an unknown or revoked token, even if none is needed, since the sender wants to know; 429 for an address that sends such
    ///   tokens repeatedly.
    private func caller(
        of request: Request, from address: IPAddress?, acceptsBasic: Bool, _ known: inout BearerToken?
    ) async throws -> Caller {
        if isLocal {
            return Caller(local: HTTPField.Name(Caller.personHeader).flatMap { request.headers[$0] })
        }
        guard let header = request.headers[.authorization] else { return .anonymous }
        guard let secret = BearerToken.secret(inAuthorization: header, acceptsBasic: acceptsBasic),
            let token = BearerToken(secret), let caller = try await role(token)
        else {
            let wait = failedLogins.fail(from: address, at: clock())
            guard let wait else { throw Problem(401, "This token is not known here, or it was revoked.") }
            var problem = Problem(
                429, "Too many tokens from this address were not known here; wait, or correct the token.")
            problem.retryAfter = max(1, wait.components.seconds)
            throw problem
        }
        known = token
        return caller
    }

    /// Browsers that request a page get one. All others get problem+json, as does everybody when too many pages are requested.
    private func present(_ problem: Problem, for request: Request, of client: IPAddress?) async -> Response {
        let wantsPage = request.headers[.accept]?.contains("text/html") == true
        let asker = Asker(client: client, isKnown: isLocal)
        let page = wantsPage ? await limits.problemPage(for: asker) { await errorPage(problem) } : nil
        var response = page ?? problem.response
        if wantsPage, problem.status == 401 {
            // A browser can ask for a password and send it as Basic; see `BearerToken.secret(inAuthorization:)`.
            response.headers[.wwwAuthenticate] = "Basic realm=\"martlet: any name, a token as the password\""
        }
        return response
    }

    private func log(_ error: any Error, _ request: Request, _ logger: Logger) {
        logger.error(
            "request failed",
            metadata: [
                "method": "\(request.method)", "path": "\(Self.printable(request.head.path ?? ""))",
                "error": "\(error)",
            ])
    }

    /// A path for one line of the log: no query (it could hold what somebody should not have put there), no control
    /// characters, at most 200 characters.
    static func printable(_ path: String) -> String {
        let scalars = path.prefix { $0 != "?" }.unicodeScalars.prefix(200)
        return String(String.UnicodeScalarView(scalars.map { $0.value < 32 || $0.value == 127 ? "?" : $0 }))
    }
}
