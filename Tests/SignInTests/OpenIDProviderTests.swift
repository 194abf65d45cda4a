import Basics
import Crypto
import Foundation
import Model
import Settings
import TestSupport
import Testing

@testable import SignIn

private let time: Int64 = 1_772_366_400

/// Returns a provider of the service that asks the fake one.
private func provider(_ fake: FakeProvider, clock: Locked<Int64> = Locked(time)) -> OpenIDProvider {
    OpenIDProvider(
        settings: OpenIDSettings(
            issuer: fake.issuer, clientID: fake.client, secret: "openid", roles: RoleRules([.viewer: ["*"]])),
        transport: fake, now: { Timestamp(secondsSinceEpoch: clock.value) }, secret: { fake.secret })
}

private func attempt(at seconds: Int64 = time) -> SignInAttempt {
    SignInAttempt(
        next: "/bots/kit", redirect: "https://ci.acme.example/sign-in/openid/callback",
        at: Timestamp(secondsSinceEpoch: seconds))
}

/// Signs in once, as a browser would.
private func signIn(
    _ provider: OpenIDProvider, at fake: FakeProvider, _ attempt: SignInAttempt = attempt()
) async throws -> ProvidedPerson {
    let address = try await provider.address(for: attempt)
    let query = try #require(fake.authorize(address), "\(address)")
    let code = try #require(query.split(separator: "&").first?.dropFirst("code=".count))
    return try await provider.person(code: String(code), state: attempt.state, issuer: nil, attempt: attempt)
}

private let ann: [String: FakeProvider.Value] = [
    "email": "ann@acme.example", "email_verified": true, "groups": .texts(["ci", "staff"]),
    "preferred_username": "ann",
]

@Suite struct OpenIDProviderTests {
    @Test(.proves(.web, "People sign in with OpenID Connect: discovery, PKCE, state, nonce, and a verified ID token"))
    func testThatAPersonIsSignedIn() async throws {
        // given
        let fake = FakeProvider(now: time, person: ann)
        // when
        let person = try await signIn(provider(fake), at: fake)
        // then
        #expect(person.name == "ann@acme.example")
        #expect(person.mail == "ann@acme.example")
        #expect(person.groups == ["ci", "staff"])
        #expect(fake.requests == ["/.well-known/openid-configuration", "/token", "/keys"])
    }

    @Test func testThatWhatTheIDTokenLacksComesFromTheUserinfoEndpoint() async throws {
        let fake = FakeProvider(
            now: time, person: [:], userinfo: ann.merging(["sub": "248289761001"]) { $1 })
        #expect(try await signIn(provider(fake), at: fake).groups == ["ci", "staff"])
    }

    @Test func testThatUserinfoOfAnotherPersonIsRefused() async throws {
        let fake = FakeProvider(now: time, person: [:], userinfo: ann.merging(["sub": "1"]) { $1 })
        await expectRejection(SignInError.self, \.code, .refused) { try await signIn(provider(fake), at: fake) }
    }

    @Test func testThatTheAddressOfAMailMustBeVerified() async throws {
        for (verified, mail): (FakeProvider.Value, String?) in [
            (true, "ann@acme.example"), ("true", "ann@acme.example"), (false, nil), ("false", nil), (1, nil),
        ] {
            let fake = FakeProvider(now: time, person: ann.merging(["email_verified": verified]) { $1 })
            let person = try await signIn(provider(fake), at: fake)
            #expect(person.mail == mail, "\(verified)")
            #expect(person.name == mail ?? "ann (id.acme.example)")
        }
    }

    @Test func testThatAClientWithoutBasicSendsItsSecretInTheForm() async throws {
        let fake = FakeProvider(
            now: time, person: ann,
            discovery: ["token_endpoint_auth_methods_supported": .texts(["client_secret_post"])])
        #expect(try await signIn(provider(fake), at: fake).mail != nil)
    }

    // MARK: Forged answers

    /// A forgery of an ID token, and why it is refused.
    struct Forgery: Sendable, CustomTestStringConvertible {
        let name: String
        let make: @Sendable (FakeProvider.Draft) throws -> String
        var testDescription: String { name }

        init(_ name: String, claims: [String: FakeProvider.Value?]) {
            self.init(name) { draft in
                var draft = draft
                for (claim, value) in claims { draft.claims[claim] = value }
                return try draft.signed()
            }
        }

        init(_ name: String, header: [String: String]) {
            self.init(name) { draft in
                var draft = draft
                draft.header.merge(header) { $1 }
                return try draft.signed()
            }
        }

        init(_ name: String, _ make: @escaping @Sendable (FakeProvider.Draft) throws -> String) {
            (self.name, self.make) = (name, make)
        }
    }

    /// Returns a token that is signed by HMAC with a key.
    private static func hmac(_ draft: FakeProvider.Draft, _ key: [UInt8]) throws -> String {
        var draft = draft
        draft.header["alg"] = "HS256"
        let text = try draft.signingInput()
        return text + "." + base64URL(Digest.hmacSHA256(key: key, message: Array(text.utf8)))
    }

    private static func unsigned(_ draft: FakeProvider.Draft, _ alg: String) throws -> String {
        var draft = draft
        draft.header["alg"] = alg
        return try draft.signingInput() + "."
    }

    static let forgeries: [Forgery] = [
        Forgery("alg none") { try unsigned($0, "none") },
        Forgery("alg None") { try unsigned($0, "None") },
        Forgery("no signature") { try unsigned($0, "ES256") },
        Forgery("HMAC with the public key") { try hmac($0, [UInt8]($0.key.publicKey.rawRepresentation)) },
        Forgery("HMAC with the public key in PEM") { try hmac($0, Array($0.key.publicKey.pemRepresentation.utf8)) },
        Forgery("HMAC with the client's secret") { try hmac($0, Array("s3cret/+=".utf8)) },
        Forgery("another key") { draft in
            var draft = draft
            draft.key = P256.Signing.PrivateKey()
            return try draft.signed()
        },
        Forgery("another key of an unknown identifier") { draft in
            var draft = draft
            (draft.key, draft.header["kid"]) = (P256.Signing.PrivateKey(), "../../dev/null")
            return try draft.signed()
        },
        Forgery("claims after the signature") { draft in
            var other = draft
            other.claims["email"] = "root@acme.example"
            let signature = try draft.signed().split(separator: ".")[2]
            return try "\(other.signingInput()).\(signature)"
        },
        Forgery("another algorithm of the same key", header: ["alg": "RS256"]),
        Forgery("an extension", header: ["crit": "exp"]),
        Forgery("not three parts") { try $0.signingInput() },
        Forgery("larger than a token may be", claims: ["filler": .text(String(repeating: "a", count: 70_000))]),
        Forgery("another issuer", claims: ["iss": "https://id.attacker.example"]),
        Forgery("another audience", claims: ["aud": "shop"]),
        Forgery("two audiences without a party", claims: ["aud": .texts(["martlet", "shop"])]),
        Forgery("given to another party", claims: ["aud": .texts(["martlet", "shop"]), "azp": "shop"]),
        Forgery("expired", claims: ["exp": .number(time - 121)]),
        Forgery("without an end", claims: ["exp": nil]),
        Forgery("of the future", claims: ["iat": .number(time + 121)]),
        Forgery("not valid yet", claims: ["nbf": .number(time + 121)]),
        Forgery("another nonce", claims: ["nonce": "0"]),
        Forgery("without a nonce", claims: ["nonce": nil]),
        Forgery("nobody", claims: ["sub": ""]),
    ]

    @Test(
        .proves(.web, "Forged, expired and replayed OpenID answers are refused with a sentence"), arguments: forgeries)
    func testA6ThatAForgedIDTokenIsRefused(_ forgery: Forgery) async throws {
        let fake = FakeProvider(now: time, person: ann, forge: forgery.make)
        await expectRejection(SignInError.self, \.code, .refused) { try await signIn(provider(fake), at: fake) }
    }

    @Test func testThatATokenAtTheEdgesOfTheLeewayIsTaken() async throws {
        for claims: [String: FakeProvider.Value] in [
            ["exp": .number(time - 119)], ["iat": .number(time + 119)],
            ["aud": .texts(["martlet", "shop"]), "azp": "martlet"],
        ] {
            let fake = FakeProvider(now: time, person: ann.merging(claims) { $1 })
            #expect(try await signIn(provider(fake), at: fake).mail != nil, "\(claims)")
        }
    }

    @Test(.proves(.web, "Forged, expired and replayed OpenID answers are refused with a sentence"))
    func testThatAnAnswerIsTakenOnce() async throws {
        // given
        let fake = FakeProvider(now: time, person: ann)
        let provider = provider(fake)
        let attempt = attempt()
        _ = try await signIn(provider, at: fake, attempt)
        let count = fake.requests.count
        // when
        await expectRejection(SignInError.self, \.code, .refused) { try await signIn(provider, at: fake, attempt) }
        // then
        #expect(fake.requests.count == count, "the provider is not even asked")
    }

    @Test func testThatAnAnswerOfAnotherSignInOrProviderIsRefused() async throws {
        let fake = FakeProvider(now: time, person: ann)
        let provider = provider(fake)
        let attempt = attempt()
        for (state, issuer): (String, String?) in [("0", nil), (attempt.state, "https://id.attacker.example")] {
            await expectRejection(SignInError.self, \.code, .refused) {
                try await provider.person(code: "code-2", state: state, issuer: issuer, attempt: attempt)
            }
        }
        #expect(fake.requests == [])
    }

    @Test func testThatACodeOfAnotherSignInIsRefused() async throws {
        // given a code that was given for the verifier of another browser
        let fake = FakeProvider(now: time, person: ann)
        let provider = provider(fake)
        let (mine, foreign) = (attempt(), attempt())
        let query = try #require(fake.authorize(try await provider.address(for: foreign)))
        let code = String(query.split(separator: "&")[0].dropFirst("code=".count))
        // when
        await expectRejection(SignInError.self, \.code, .refused) {
            try await provider.person(code: code, state: mine.state, issuer: nil, attempt: mine)
        }
    }

    // MARK: Keys and documents

    @Test func testThatAnUnknownKeyRenewsTheKeysAtMostOnceAMinute() async throws {
        // given
        let fake = FakeProvider(now: time, person: ann)
        let clock = Locked(time)
        let provider = provider(fake, clock: clock)
        _ = try await signIn(provider, at: fake)
        // when the key changes at once
        fake.changeKey()
        await expectRejection(SignInError.self, \.code, .refused) { try await signIn(provider, at: fake) }
        #expect(fake.requests.filter { $0 == "/keys" }.count == 1)
        // then it is read after a minute
        clock.withLock { $0 = time + 61 }
        _ = try await signIn(provider, at: fake, attempt(at: time + 61))
        #expect(fake.requests.filter { $0 == "/keys" }.count == 2)
    }

    @Test func testThatDocumentsAreReadOnceAnHour() async throws {
        let fake = FakeProvider(now: time, person: ann)
        let clock = Locked(time)
        let provider = provider(fake, clock: clock)
        for _ in 0..<3 { _ = try await signIn(provider, at: fake) }
        #expect(fake.requests.filter { $0 != "/token" } == ["/.well-known/openid-configuration", "/keys"])
        clock.withLock { $0 = time + 3601 }
        _ = try await provider.address(for: attempt(at: time + 3601))
        #expect(fake.requests.filter { $0.hasPrefix("/.well") }.count == 2)
    }

    @Test(arguments: [
        ["issuer": "https://id.attacker.example"], ["token_endpoint": "http://id.acme.example/token"],
        ["jwks_uri": "file:///etc/passwd"], ["authorization_endpoint": "javascript:alert(1)"],
    ]) func testThatADocumentWithForeignEndpointsIsRefused(_ discovery: [String: String]) async throws {
        let fake = FakeProvider(
            now: time, person: ann, discovery: discovery.mapValues { FakeProvider.Value.text($0) })
        await expectRejection(SignInError.self, \.code, .unavailable) {
            try await provider(fake).address(for: attempt())
        }
    }

    @Test func testThatKeysThatCannotVerifyAreLeftOut() throws {
        // given
        let key = P256.Signing.PrivateKey()
        var keys = [
            FakeProvider.publicKey(key, "good"), ["kty": "oct", "k": "c2VjcmV0", "kid": "good"],
            ["kty": "EC", "crv": "secp256k1", "kid": "good"], ["kid": "good"],
        ]
        var forEncryption = FakeProvider.publicKey(key, "good")
        forEncryption["use"] = "enc"
        keys.append(forEncryption)
        // when
        let known = try #require(ProviderKeys([UInt8](try JSONEncoder().encode(["keys": keys]))))
        // then
        let header = try TokenHeader(of: base64URL(Array(#"{"alg":"ES256","kid":"good"}"#.utf8)) + ".e30.")
        #expect(known.candidates(header).count == 1)
        #expect(ProviderKeys(Array("[]".utf8)) == nil)
    }
}

@Suite struct SignInAttemptTests {
    private let key = Array(repeating: UInt8(7), count: 32)

    @Test func testThatASealedAttemptIsOpenedForTenMinutes() throws {
        let attempt = attempt()
        let sealed = attempt.sealed(with: key)
        #expect(sealed.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !";,\"\\".utf8.contains($0) })
        #expect(SignInAttempt(sealed: sealed, with: key, at: Timestamp(secondsSinceEpoch: time + 600)) == attempt)
        #expect(SignInAttempt(sealed: sealed, with: key, at: Timestamp(secondsSinceEpoch: time + 601)) == nil)
    }

    @Test func testThatAForgedAttemptIsNotOpened() throws {
        let sealed = attempt().sealed(with: key)
        let now = Timestamp(secondsSinceEpoch: time)
        for forged in ["", ".", "a.b", sealed + ".", String(sealed.dropLast()), "A" + sealed, sealed.uppercased()] {
            #expect(SignInAttempt(sealed: forged, with: key, at: now) == nil, "\(forged)")
        }
        #expect(SignInAttempt(sealed: sealed, with: Array(repeating: 8, count: 32), at: now) == nil)
    }

    /// RFC 7636, appendix B, has the challenge of a verifier; here the verifier is random.
    @Test func testThatTheChallengeIsTheDigestOfTheVerifier() {
        let attempt = attempt()
        #expect(attempt.challenge == base64URL([UInt8](SHA256.hash(data: Data(attempt.verifier.utf8)))))
        #expect((43...128).contains(attempt.verifier.utf8.count))
        #expect(Set([attempt.state, attempt.nonce, attempt.verifier]).count == 3)
    }
}
