import Basics
import HTTPTypes
import Hummingbird
import Integrations
import Logging
import Model
import NIOCore
import NIOHTTP1
import Settings
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
    /// Returns the bots that make a product or package.
    let makers: @Sendable (ProductScope) async throws -> [Name]
    let identification: Identification
    let messages: PageMessages
    /// Returns the present name of the bot that had a name before; `nil` if none had it.
    let presentName: @Sendable (Name) async -> Name?
    let errorPage: @Sendable (Problem) async -> Response
    let hosts: ServedHosts
    let answers: LiveAnswers
    let clock: @Sendable () -> Timestamp
    /// The path under which a proxy serves the service; empty: none.
    let base: String
    /// Shared by both responders and all connections.
    let limits: WebLimits
    let log: LogControl
    let logger: Logger
    let refusals: RefusalLog

    @concurrent func respond(to request: Request, context: Context) async throws -> Response {
        var response: Response
        let client = limits.clients.client(
            ofRequestFrom: IPAddress(context.channel.remoteAddress),
            forwarded: Self.forwarded(request))
        // Whether all are answered the same.
        var isSame = anonymousMayRead
        let peer = IPAddress(context.channel.remoteAddress)
        let place = place(of: request, from: peer)
        var reader = PageReader(path: pathToReturn(of: request, at: place), maySignIn: place.keepsSessions)
        do {
            response = try await answer(request, of: client, at: place, in: context, &reader, &isSame)
        } catch let problem as Problem where problem.status == 421 {
            // A page of another site may read this answer: it says nothing more.
            response = problem.response
        } catch let problem as Problem {
            if problem.status == 401, request.headers[.authorization] != nil { note(.token, request, from: peer) }
            let renamed = problem.status == 404 ? await renamed(request, reader) : nil
            response = if let renamed { renamed } else { await present(problem, for: request, of: client, reader) }
        } catch let error as OperationError {
            if error.code == .unauthenticated { note(.signature, request, from: peer) }
            if error.code == .internal { log(error.underlying ?? error, request, from: peer, context.logger) }
            response = await present(Problem(error), for: request, of: client, reader)
        } catch is HTTPParserError {
            response = await present(Problem(400, "The request is malformed."), for: request, of: client, reader)
        } catch is CancellationError where context.departure.hasLeft {
            // `StrictRequests` closes the connection. Closing it here would drop the bytes of earlier answers that the kernel has not accepted yet.
            response = Response(status: .serviceUnavailable, headers: [.connection: "close"])
        } catch is CancellationError {
            response = await present(Problem(503, "The service is stopping."), for: request, of: client, reader)
        } catch {
            log(error, request, from: peer, context.logger)
            response = await present(.internal, for: request, of: client, reader)
        }
        if log.hasRequests { logRequest(request, response, from: peer, reader.caller) }
        RegistryRoutes.mark(&response, path: path(of: request))
        if !base.isEmpty, let place = response.headers[.location], place.hasPrefix("/") {
            response.headers[.location] = base + place
        }
        SecurityHeaders(isPublic: isSame, personHeader: identification.header?.name).apply(to: &response)
        return request.method == .head ? response.createHeadResponse() : response
    }

    /// Returns a redirect to the present name of a bot that was renamed, for a path that names it by its former one.
    /// - Returns: `nil` for every other path.
    private func renamed(_ request: Request, _ reader: PageReader) async -> Response? {
        // Only a route answers 404 after it has checked whether the caller may read.
        guard request.method == .get || request.method == .head,
            case .route = table.match(request.method, path: path(of: request)),
            let former = FormerBotPath(path(of: request)), let name = await presentName(former.bot),
            // The present name may be that of a bot which the caller may not read.
            anonymousMayRead || reader.shown?.covers(name) ?? true
        else { return nil }
        let query = (request.head.path ?? "").drop { $0 != "?" }
        // Another bot may get the former name later, so the redirect is not permanent.
        return Response(status: .temporaryRedirect, headers: [.location: former.path(of: name) + query])
    }

    private func answer(
        _ request: Request, of client: IPAddress?, at place: RequestPlace, in context: Context,
        _ reader: inout PageReader, _ isSame: inout Bool
    ) async throws -> Response {
        let channel = context.channel
        let path = path(of: request)
        Failpoint.trap("request \(path)")
        if !isLocal, let refusal = hosts.refusal(of: request.head.authority) {
            isSame = false
            throw refusal
        }
        let peer = IPAddress(channel.remoteAddress)
        let address = client ?? peer?.network
        let (route, parameters) = try await route(of: request, path, at: place, peer: peer, address: address, &reader)
        try refuseForeign(request, route)
        let identity = try await identity(of: request, route, at: place, peer: peer, address: address)
        let caller = identity.caller
        if caller.csrf != nil {
            isSame = false
            reader.caller = caller
            reader.message = message(in: request, for: caller)
        }
        var mayRead = anonymousMayRead
        if route.access == .product {
            // Until it is known, nobody else may keep the answer. A page with somebody's name is never the same for all.
            isSame = false
            (mayRead, isSame) = try await openness(ProductScope(parameters))
            isSame = isSame && caller.csrf == nil
        }
        let role = try await route.reach.role(of: caller, parameters, makers: makers)
        if var refusal = route.access.refusal(of: caller, as: role, anonymousMayRead: mayRead) {
            if refusal.status == 401, identity.hasEnded { refusal = .endedSession }
            throw refusal
        }
        // What anybody may read, a caller whose role is limited may read as well.
        let shown = route.access == .read && mayRead ? nil : caller.rights.scope
        (reader.role, reader.shown) = (role, caller.rights.scope)
        if caller.csrf != nil, route.method != .get { try checkForgery(request, route, caller) }
        let permit: LiveAnswers.Permit? =
            // A caller without a role on the product reads it as anybody does.
            (route.access == .product && role == nil ? nil : identity.permit)
            ?? (route.access == .product && !isLocal ? .product(ProductScope(parameters)) : nil)
        // Before it is computed: the right may be taken away meanwhile.
        let live = route.cost.lasts ? permit.map { answers.begin($0, over: channel) } : nil
        let call = AuthorizedRequest(
            request: Self.withDecodedTags(request), channel: channel, departure: context.departure, caller: caller,
            role: role, bots: shown, parameters: parameters,
            bodyLimit: route.bodyLimit, client: client, address: address, origin: origin(of: request, from: peer),
            place: place, limits: limits)
        var response = try await PageReader.$ofRequest.withValue(reader) {
            try await limits.answer(call, cost: route.cost) {
                try route.operation?.checkQuery(of: call)
                return try await route.handler(call).conditional(for: call)
            }
        }
        if route.cost != .download { response.nameForm(of: request) }
        if let live { response.body = live.holding(response.body) }
        return response
    }

    /// Returns the route of a request, and the parameters in its path.
    /// - Throws: 404, and 405 with the methods that the path takes.
    private func route(
        of request: Request, _ path: String, at place: RequestPlace, peer: IPAddress?, address: IPAddress?,
        _ reader: inout PageReader
    ) async throws -> (Route, [String: String]) {
        switch table.match(request.method, path: path) {
        case .nothing:
            // The page that says so has the reader's name, too.
            if !isLocal, request.headers[.authorization] == nil {
                reader.caller = try await identification.identify(
                    request, at: place, peer: peer, address: address, acceptsBasic: false
                ).caller
            }
            throw Problem.notFound
        case .otherMethods(let methods):
            var problem = Problem(405, "This path takes \(methods.joined(separator: ", ")).")
            problem.allow = methods.joined(separator: ", ")
            throw problem
        case .route(let found, let values): return (found, values)
        }
    }

    /// Returns the request with the entity tags of compressed answers as those of the answers themselves, which routes compare with.
    private static func withDecodedTags(_ request: Request) -> Request {
        guard let list = request.headers[.ifNoneMatch],
            AcceptedCodings(request.headers[.acceptEncoding]).prefersGzip
        else { return request }
        var head = request.head
        head.headerFields[.ifNoneMatch] = ContentCoding.decoded(list)
        return Request(head: head, body: request.body)
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
        var isForeign =
            origin.map { !hosts.isOwn(origin: $0, authority: request.head.authority) } ?? false
            || route.method != .get && site == "cross-site"
        // A form has to come from a page of the service. Browsers name its origin (Fetch, section 3.2); a client that names none is not a browser,
        // so no page of another site can have made it send this. It still needs the form's token.
        if route.access.isForm, route.method != .get, origin == nil, let site, site != "same-origin" {
            isForeign = true
        }
        if isForeign { throw Problem(403, "A page of another site may not ask for this.") }
    }

    /// Refuses a changing request that a browser's session alone authorizes. A form has its token in a field, which `Route.form` checks.
    /// - Throws: 403.
    private func checkForgery(_ request: Request, _ route: Route, _ caller: Caller) throws(Problem) {
        if route.access.isForm { return }
        let sent = HTTPField.Name("X-CSRF-Token").flatMap { request.headers[$0] } ?? ""
        guard let csrf = caller.csrf, ConstantTime.areEqual(Array(sent.utf8), Array(csrf.utf8)) else {
            throw Problem(
                403,
                "A browser's session alone changes nothing here: send its form token as `X-CSRF-Token`, or a token.")
        }
    }

    private func identity(
        of request: Request, _ route: Route, at place: RequestPlace, peer: IPAddress?, address: IPAddress?
    ) async throws -> Identification.Identity {
        if [.open, .signature, .attempt].contains(route.access) { return .init() }
        if isLocal {
            let person = HTTPField.Name(Caller.personHeader).flatMap { request.headers[$0] }
            return .init(caller: Caller(local: person))
        }
        return try await identification.identify(
            request, at: place, peer: peer, address: address, acceptsBasic: route.acceptsBasic)
    }

    /// Returns the client's address for the log and the audit.
    private func origin(of request: Request, from peer: IPAddress?) -> IPAddress? {
        limits.clients.origin(ofRequestFrom: peer, forwarded: Self.forwarded(request))
    }

    private static func forwarded(_ request: Request) -> [String] {
        HTTPField.Name("X-Forwarded-For").map { request.headers[values: $0] } ?? []
    }

    /// Returns the address under which the browser sees the service. A trusted proxy states the scheme; without it, `url` does.
    private func place(of request: Request, from peer: IPAddress?) -> RequestPlace {
        let isTrusted = peer.map { limits.clients.proxies.contains($0) } ?? false
        let scheme = HTTPField.Name("X-Forwarded-Proto").flatMap { request.headers[$0] }
        return hosts.place(
            authority: request.head.authority, isThroughProxy: isTrusted, scheme: isTrusted ? scheme : nil, base: base)
    }

    /// Returns the page to which a sign-in returns: the one that was asked for, or the one with the form.
    private func pathToReturn(of request: Request, at place: RequestPlace) -> String {
        var path = request.head.path
        if request.method != .get, request.method != .head {
            path = HTTPField.Name("Referer").flatMap { request.headers[$0] }.flatMap { referrer in
                referrer.hasPrefix(place.root + "/") ? String(referrer.dropFirst(place.root.count)) : nil
            }
        } else if !base.isEmpty, let asked = path, asked.hasPrefix(base + "/") {
            path = String(asked.dropFirst(base.count))
        }
        guard let checked = OwnPath.checked(path), !checked.hasPrefix("/sign-") else { return "/" }
        return checked
    }

    private func message(in request: Request, for caller: Caller) -> PageMessages.Message? {
        guard let csrf = caller.csrf,
            let number = AuthorizedRequest.query(PageMessages.parameter, of: request.head.path)
        else { return nil }
        return messages.message(number, for: csrf, at: clock())
    }

    /// Browsers that request a page get one. All others get problem+json, as does everybody when too many pages are requested.
    private func present(
        _ problem: Problem, for request: Request, of client: IPAddress?, _ reader: PageReader
    ) async -> Response {
        let wantsPage = request.headers[.accept]?.contains("text/html") == true
        let asker = Asker(client: client, isKnown: isLocal)
        let page =
            wantsPage
            ? await PageReader.$ofRequest.withValue(reader) {
                await limits.problemPage(for: asker) { await errorPage(problem) }
            } : nil
        var response = page ?? problem.response
        if wantsPage, problem.status == 401 {
            // A browser asks for a password and sends it as Basic (`BearerToken.secret(inAuthorization:)`), where no session is possible. Otherwise
            // its dialog would hide the page that offers to sign in.
            response.headers[.wwwAuthenticate] =
                reader.maySignIn ? Problem.challenge : "Basic realm=\"martlet: any name, a token as the password\""
        }
        return response
    }

    private func note(_ kind: RefusalLog.Kind, _ request: Request, from peer: IPAddress?) {
        refusals.note(kind, path: Self.printable(path(of: request)), from: origin(of: request, from: peer))
    }

    /// Writes a line about an answer, when it begins.
    private func logRequest(_ request: Request, _ response: Response, from peer: IPAddress?, _ caller: Caller) {
        var metadata: Logger.Metadata = [
            "method": "\(request.method)", "path": "\(Self.printable(request.head.path ?? ""))",
            "status": "\(response.status.code)",
        ]
        if let origin = origin(of: request, from: peer) { metadata["from"] = "\(origin)" }
        if caller.isKnown { metadata["by"] = "\(caller.name)" }
        // These lines have a setting of their own, so the level of the others does not matter.
        var logger = logger
        logger.logLevel = .info
        logger.info("a request was answered", metadata: metadata)
    }

    /// Logs a failed request, with the address of its client: behind a trusted proxy that which the proxy names.
    private func log(_ error: any Error, _ request: Request, from peer: IPAddress?, _ logger: Logger) {
        let origin = origin(of: request, from: peer)
        logger.error(
            "request failed",
            metadata: [
                "method": "\(request.method)", "path": "\(Self.printable(request.head.path ?? ""))",
                "from": "\(origin?.description ?? "the unix socket")", "error": "\(error)",
            ])
    }

    /// A path for one line of the log: no query (it could hold what somebody should not have put there), no control
    /// characters, at most 200 characters.
    static func printable(_ path: String) -> String {
        let scalars = path.prefix { $0 != "?" }.unicodeScalars.prefix(200)
        return String(String.UnicodeScalarView(scalars.map { $0.value < 32 || $0.value == 127 ? "?" : $0 }))
    }
}
