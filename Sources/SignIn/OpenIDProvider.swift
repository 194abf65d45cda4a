import Encodings
import Foundation
package import Model
package import Settings
package import Transfer

/// A provider of OpenID Connect as the service uses it: the authorization code flow with PKCE (OpenID Connect Core 1.0, section 3.1; RFC 7636).
///
/// The discovery document and the keys are kept for an hour. A token with an unknown key causes them to be read again, at most once a minute.
package actor OpenIDProvider {
    /// How long documents of the provider are kept.
    static let keeping: Duration = .seconds(3600)
    /// The shortest time between two requests for the keys because of an unknown one.
    static let renewal: Duration = .seconds(60)
    /// The most bytes of an answer of the provider.
    static let maximumAnswer: Int64 = 1 << 20
    /// The most sign-ins that wait for the provider at once.
    static let maximumSignIns = 16
    /// The most answered sign-ins that are remembered, so that none is answered twice.
    static let maximumUsed = 4096

    package nonisolated let settings: OpenIDSettings
    private let transport: any Transport
    private let secret: @Sendable () async throws -> String?
    private let now: @Sendable () -> Timestamp
    private var configuration: (value: ProviderConfiguration, at: Timestamp)?
    private var keys: (value: ProviderKeys, at: Timestamp)?
    private var signIns = 0
    /// The states of answered sign-ins, with the time after which their attempts have expired anyway.
    private var used: [String: Timestamp] = [:]

    /// - Parameters:
    ///   - secret: Returns the client's secret; `nil` for a public client. It is called for each sign-in.
    package init(
        settings: OpenIDSettings, transport: any Transport, now: @escaping @Sendable () -> Timestamp,
        secret: @escaping @Sendable () async throws -> String?
    ) {
        (self.settings, self.transport, self.now, self.secret) = (settings, transport, now, secret)
    }

    /// Returns the address to which a browser is sent, so that the person signs in there.
    package func address(for attempt: SignInAttempt) async throws(SignInError) -> String {
        let configuration = try await readConfiguration()
        let parameters = [
            ("response_type", "code"), ("client_id", settings.clientID), ("redirect_uri", attempt.redirect),
            ("scope", configuration.scope), ("state", attempt.state), ("nonce", attempt.nonce),
            ("code_challenge", attempt.challenge), ("code_challenge_method", "S256"),
        ]
        let address = configuration.authorizationEndpoint
        return address + (address.contains("?") ? "&" : "?") + Self.form(parameters)
    }

    /// Exchanges the code of the provider's answer for the person who signed in. An attempt is answered once.
    /// - Parameter issuer: The `iss` of the answer (RFC 9207); `nil` if there is none.
    package func person(
        code: String, state: String, issuer: String?, attempt: SignInAttempt
    ) async throws(SignInError) -> ProvidedPerson {
        guard state == attempt.state else {
            throw SignInError(.refused, "The provider's answer belongs to another sign-in. Sign in again.")
        }
        guard issuer == nil || issuer == settings.issuer else {
            throw SignInError(.refused, "The answer comes from another provider than the settings name. Sign in again.")
        }
        try use(state)
        guard signIns < Self.maximumSignIns else {
            throw SignInError(.unavailable, "Too many people sign in at this moment. Try again in a while.")
        }
        signIns += 1
        defer { signIns -= 1 }
        let configuration = try await readConfiguration()
        let answer = try await exchange(code, of: attempt, configuration)
        let token = try await verified(answer.idToken, configuration)
        try token.check(issuer: settings.issuer, client: settings.clientID, nonce: attempt.nonce, at: now())
        let more = try await userinfo(answer, of: token, configuration)
        guard let person = ProvidedPerson(token.claims, more, of: host) else {
            throw SignInError(.refused, "The provider states no name for this person that could be shown.")
        }
        return person
    }

    /// The provider's host, with its port if it has one.
    package nonisolated var host: String {
        let issuer = settings.issuer
        return issuer.firstRange(of: "://").map { String(issuer[$0.upperBound...].prefix { $0 != "/" }) } ?? issuer
    }

    /// Marks a sign-in as answered.
    private func use(_ state: String) throws(SignInError) {
        let time = now()
        guard used[state] == nil else {
            throw SignInError(.refused, "This answer of the provider was used already. Sign in again.")
        }
        if used.count >= Self.maximumUsed { used = used.filter { $0.value > time } }
        guard used.count < Self.maximumUsed else {
            throw SignInError(.unavailable, "Too many people sign in at this moment. Try again in a while.")
        }
        used[state] = time + SignInAttempt.lifetime + SignInAttempt.lifetime
    }

    // MARK: The provider's documents

    private func readConfiguration() async throws(SignInError) -> ProviderConfiguration {
        if let configuration, Self.isFresh(configuration.at, now(), Self.keeping) { return configuration.value }
        let root = settings.issuer.hasSuffix("/") ? String(settings.issuer.dropLast()) : settings.issuer
        let bytes = try await document(.init(.get, root + "/.well-known/openid-configuration"))
        guard let value = try? JSONDecoder().decode(ProviderConfiguration.self, from: Data(bytes)) else {
            throw unavailable("its discovery document lacks an endpoint")
        }
        guard value.issuer == settings.issuer else {
            throw unavailable("its discovery document names another issuer")
        }
        // An endpoint with TLS cannot be replaced by one without.
        let isPlain = settings.issuer.hasPrefix("http:")
        guard value.addresses.allSatisfy({ $0.hasPrefix("https://") || isPlain && $0.hasPrefix("http://") }) else {
            throw unavailable("an endpoint of it has no https address")
        }
        configuration = (value, now())
        return value
    }

    private func readKeys(_ configuration: ProviderConfiguration) async throws(SignInError) -> ProviderKeys {
        let bytes = try await document(.init(.get, configuration.keysAddress))
        guard let value = ProviderKeys(bytes) else { throw unavailable("its keys are not a JWK Set") }
        keys = (value, now())
        return value
    }

    private func verified(_ token: String, _ configuration: ProviderConfiguration) async throws(SignInError) -> IDToken
    {
        let header = try TokenHeader(of: token)
        guard IDToken.algorithms[header.alg] != nil else {
            throw IDToken.refused("has no asymmetric signature, which this service requires")
        }
        if let keys, Self.isFresh(keys.at, now(), Self.keeping) {
            if keys.value.knows(header) || Self.isFresh(keys.at, now(), Self.renewal) {
                return try await keys.value.verify(token, header)
            }
        }
        return try await readKeys(configuration).verify(token, header)
    }

    // MARK: Requests

    private func exchange(
        _ code: String, of attempt: SignInAttempt, _ configuration: ProviderConfiguration
    ) async throws(SignInError) -> TokenAnswer {
        var parameters = [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", attempt.redirect),
            ("code_verifier", attempt.verifier),
        ]
        let secret: String?
        do {
            secret = try await self.secret()
        } catch {
            throw unavailable("the client's secret cannot be read", underlying: error)
        }
        var headers: TransferHeaders = [
            "Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json",
        ]
        if let secret, configuration.takesBasic {
            // RFC 6749, section 2.3.1: both are encoded as in a form.
            let pair = "\(PercentEncoding.encode(settings.clientID)):\(PercentEncoding.encode(secret))"
            headers["Authorization"] = "Basic \(Data(pair.utf8).base64EncodedString())"
        } else {
            parameters.append(("client_id", settings.clientID))
            if let secret { parameters.append(("client_secret", secret)) }
        }
        let request = TransferRequest(
            .post, configuration.tokenEndpoint, headers: headers, body: .bytes(Array(Self.form(parameters).utf8)))
        let response = try await send(request)
        // RFC 6749, section 5.2: a code that was used before, or is not this client's.
        guard response.status != 400 else {
            throw SignInError(
                .refused, "The provider does not accept this answer; it may have expired. Sign in again.",
                underlying: ProviderStatus(request: request, response: response))
        }
        guard response.isSuccess, let answer = try? JSONDecoder().decode(TokenAnswer.self, from: Data(response.body))
        else {
            throw unavailable(
                "its token endpoint gives no ID token", underlying: ProviderStatus(request: request, response: response)
            )
        }
        return answer
    }

    /// Asks for what the ID token does not have. A provider that has no such endpoint, or refuses, is no error.
    private func userinfo(
        _ answer: TokenAnswer, of token: IDToken, _ configuration: ProviderConfiguration
    ) async throws(SignInError) -> ProviderClaims? {
        guard token.claims.mail == nil || token.claims.groups == nil, let address = configuration.userinfoEndpoint,
            let access = answer.accessToken
        else { return nil }
        let request = TransferRequest(
            .get, address, headers: ["Accept": "application/json"], credentials: .bearer(token: access))
        let response = try await send(request)
        guard response.isSuccess, let claims = try? JSONDecoder().decode(ProviderClaims.self, from: Data(response.body))
        else { return nil }
        // OpenID Connect Core 1.0, section 5.3.2: otherwise it is about another person.
        guard claims.subject == token.claims.subject else {
            throw SignInError(.refused, "The provider's answers are about two persons. Sign in again.")
        }
        return claims
    }

    private func document(_ request: TransferRequest) async throws(SignInError) -> [UInt8] {
        let response = try await send(request)
        guard response.isSuccess else {
            throw unavailable(
                "it answers \(response.status)", underlying: ProviderStatus(request: request, response: response))
        }
        return response.body
    }

    private func send(_ request: TransferRequest) async throws(SignInError) -> TransferResponse {
        var request = request
        request.isPlainHTTPAllowed = settings.issuer.hasPrefix("http:")
        request.limits = TransferLimits(
            connect: .seconds(5), total: .seconds(15), stall: .seconds(10), response: Self.maximumAnswer)
        do throws(TransferError) {
            return try await transport.perform(request)
        } catch {
            throw unavailable("it does not answer", underlying: error)
        }
    }

    private func unavailable(_ what: String, underlying: (any Error)? = nil) -> SignInError {
        SignInError(
            .unavailable,
            "The provider \(settings.issuer) cannot sign anybody in: \(what). Try again, or sign in with a token.",
            underlying: underlying)
    }

    /// The status of an answer, for the log. Its body could hold secrets.
    private struct ProviderStatus: Error, CustomStringConvertible {
        let request: TransferRequest
        let response: TransferResponse

        var description: String { "\(request.method.rawValue) \(request.url): \(response.status)" }
    }

    /// Returns whether a document is not old. One from the future is, since the clock was set.
    private static func isFresh(_ time: Timestamp, _ now: Timestamp, _ limit: Duration) -> Bool {
        now - time >= .zero && now - time < limit
    }

    /// Returns a form's body, or a query.
    private static func form(_ parameters: [(String, String)]) -> String {
        parameters.map { "\(PercentEncoding.encode($0.0))=\(PercentEncoding.encode($0.1))" }.joined(separator: "&")
    }
}
