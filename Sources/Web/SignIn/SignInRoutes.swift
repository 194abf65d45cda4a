import Encodings
import HTTPTypes
import Hummingbird
import Logging
import Model
import Settings
import SignIn
import Storage

/// `/sign-in` and `/sign-out`: sessions of people in browsers.
struct SignInRoutes: Sendable {
    let site: Site
    let pages: Pages

    /// The cookie with a sign-in at a provider, which `RequestPlace.cookie` completes.
    private static let attemptCookie = "martlet-openid"

    var routes: [Route] {
        [
            Route(.get, "/sign-in", .signIn, "Page: sign in; ?next=.") { call in
                try await page(next: OwnPath.checked(call.query("next")), isOut: call.flag("out"))
            }.costing(.page),
            Route(.post, "/sign-in", .signIn, "Signs in with a token.") { try await signIn($0) },
            Route(.get, "/sign-in/openid", .open, "Sends the browser to the OpenID Connect provider; ?next=.") {
                try await begin($0)
            },
            Route(.get, "/sign-in/openid/callback", .open, "Takes the provider's answer; ?code= ?state=.") {
                try await answer($0)
            },
            .form("/sign-out", .viewer, "Ends the session.") { call, _ in
                if let secret = SessionSecret(of: call.request, at: call.place) {
                    try await site.store.endSession(hash: secret.hash)
                    try await site.record(.signedOut, by: call, call.caller.name)
                }
                var response = Response.seeOther("/sign-in?out")
                remove(SessionSecret.cookie, from: &response, call)
                return response
            }.reaching(.nothing),
        ]
    }

    /// Returns the sign-in page.
    /// - Parameters:
    ///   - next: The path to return to; `nil`: all bots.
    ///   - problem: The reason why a sign-in failed; `nil` for a new one.
    private func page(
        next: String?, isOut: Bool = false, problem: Problem? = nil
    ) async throws -> Response {
        let reader = PageReader.ofRequest
        var response = try await pages.page(
            "signin", title: "Sign in", section: "", status: .init(code: problem?.status ?? 200),
            [
                "next": .text(next ?? "/"), "isOut": .flag(isOut && reader.caller.csrf == nil),
                "problem": .text(problem?.detail),
                "provider": .text(site.openID?.host),
                "providerHref": .text("/sign-in/openid?next=\(PercentEncoding.encode(next ?? "/"))"),
                "proxyHeader": .text(site.configuration.signIn.header?.name),
                "plainReason": .text(reader.maySignIn ? nil : RequestPlace.plainReason),
            ])
        response.headers[.cacheControl] = "no-store"
        if let retryAfter = problem?.retryAfter { response.headers[.retryAfter] = String(retryAfter) }
        return response
    }

    // MARK: With a token

    private func signIn(_ call: AuthorizedRequest) async throws -> Response {
        let form = try SentForm(try await call.body(), type: call.request.headers[.contentType])
        let next = OwnPath.checked(form["next"])
        guard call.place.keepsSessions else { throw Problem(403, RequestPlace.plainReason) }
        guard let token = form["token"].flatMap({ BearerToken($0) }),
            let caller = try await site.caller(with: token)
        else {
            site.refusals.note(.token, path: "/sign-in", from: call.origin)
            let problem = site.failedLogins.problem(
                Problem(401, "This token is not known here, or it was revoked."), from: call.address, at: site.clock())
            return try await page(next: next, problem: problem)
        }
        return try await open(.token(name: caller.name), call, next: next)
    }

    /// Opens a session with a new secret, so that a cookie that somebody has placed before is worth nothing.
    private func open(_ session: NewSession, _ call: AuthorizedRequest, next: String?) async throws -> Response {
        if let old = SessionSecret(of: call.request, at: call.place) {
            try await site.store.endSession(hash: old.hash)
        }
        let secret = SessionSecret.random()
        let (person, means) =
            switch session {
            case .token(let name): (name, "with the token of this name")
            case .provider(let person, let statement): (person, "by \(statement.issuer)")
            }
        let entry = site.entry(.signedIn, by: call, as: person, person, means)
        try await site.store.createSession(session, hash: secret.hash, at: site.clock(), audit: entry)
        site.log(entry)
        var response = Response.seeOther(next ?? "/")
        if let header = secret.header(at: call.place) {
            response.headers.append(HTTPField(name: .setCookie, value: header))
        }
        return response
    }

    private func remove(_ cookie: String, from response: inout Response, _ call: AuthorizedRequest) {
        guard let name = call.place.cookie(cookie) else { return }
        response.headers.append(
            HTTPField(name: .setCookie, value: Cookies.header(name, "", call.place, seconds: 0)))
    }

    // MARK: With OpenID Connect

    private func provider() throws(Problem) -> OpenIDProvider {
        guard let provider = site.openID else {
            throw Problem(404, "The settings name no OpenID Connect provider (sign-in: openid).")
        }
        return provider
    }

    private func begin(_ call: AuthorizedRequest) async throws -> Response {
        let provider = try provider()
        guard let cookie = call.place.cookie(Self.attemptCookie) else { throw Problem(403, RequestPlace.plainReason) }
        let attempt = SignInAttempt(
            next: OwnPath.checked(call.query("next")) ?? "/", redirect: call.place.root + "/sign-in/openid/callback",
            at: site.clock())
        do throws(SignInError) {
            var response = Response.found(try await provider.address(for: attempt))
            response.headers[.cacheControl] = "no-store"
            let value = attempt.sealed(with: site.signInKey)
            let seconds = Int(SignInAttempt.lifetime.components.seconds)
            response.headers.append(
                HTTPField(name: .setCookie, value: Cookies.header(cookie, value, call.place, seconds: seconds)))
            return response
        } catch {
            return try await failure(error, call, next: attempt.next)
        }
    }

    private func answer(_ call: AuthorizedRequest) async throws -> Response {
        let provider = try provider()
        guard let cookie = call.place.cookie(Self.attemptCookie) else { throw Problem(403, RequestPlace.plainReason) }
        guard let sealed = Cookies.value(cookie, of: call.request),
            let attempt = SignInAttempt(sealed: sealed, with: site.signInKey, at: site.clock())
        else {
            let error = SignInError(
                .refused, "This sign-in was not begun here, or more than ten minutes ago. Sign in again.")
            return try await failure(error, call, next: nil)
        }
        var response: Response
        do throws(SignInError) {
            let person = try await person(call, attempt, provider)
            guard !provider.settings.roles.rights(names: person.groups, mail: person.mail).isEmpty else {
                throw SignInError(
                    .refused,
                    "\(person.name) is signed in at the provider, but has no role here. An admin gives roles in the settings: sign-in, openid, roles."
                )
            }
            let statement = ProviderStatement(
                issuer: provider.settings.issuer, mail: person.mail, groups: person.groups)
            do {
                response = try await open(.provider(person: person.name, statement), call, next: attempt.next)
            } catch {
                throw SignInError(.unavailable, "The session could not be stored. Try again.", underlying: error)
            }
        } catch {
            response = try await failure(error, call, next: attempt.next)
        }
        remove(Self.attemptCookie, from: &response, call)
        return response
    }

    private func person(
        _ call: AuthorizedRequest, _ attempt: SignInAttempt, _ provider: OpenIDProvider
    ) async throws(SignInError) -> ProvidedPerson {
        if let reason = call.query("error") {
            // RFC 6749, section 4.1.2.1: the code of an error has visible ASCII alone.
            let isPlain = reason.utf8.allSatisfy { (0x21...0x7E).contains($0) } && reason.utf8.count <= 64
            throw SignInError(
                .refused, "The provider did not sign you in\(isPlain ? ": \(reason)" : ""). Sign in again.")
        }
        guard let code = call.query("code"), let state = call.query("state") else {
            throw SignInError(.refused, "The provider's answer has no code. Sign in again.")
        }
        return try await provider.person(code: code, state: state, issuer: call.query("iss"), attempt: attempt)
    }

    /// Returns the sign-in page with the reason. Failures of clients count like wrong tokens.
    private func failure(_ error: SignInError, _ call: AuthorizedRequest, next: String?) async throws -> Response {
        if error.code == .refused {
            site.logger.notice("a sign-in was refused", metadata: ["reason": "\(error)"])
            let problem = site.failedLogins.problem(
                Problem(403, error.message), from: call.address, at: site.clock())
            return try await page(next: next, problem: problem)
        }
        site.logger.warning("nobody can sign in", metadata: ["reason": "\(error)"])
        return try await page(next: next, problem: Problem(503, error.message))
    }
}
