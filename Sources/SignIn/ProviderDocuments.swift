import Foundation

/// A provider's discovery document (OpenID Connect Discovery 1.0, section 3), with the parts that are used.
struct ProviderConfiguration: Decodable, Sendable {
    let issuer: String
    let authorizationEndpoint: String
    let tokenEndpoint: String
    let userinfoEndpoint: String?
    let keysAddress: String
    let scopes: [String]?
    let tokenMethods: [String]?

    enum CodingKeys: String, CodingKey {
        case issuer
        case authorizationEndpoint = "authorization_endpoint"
        case tokenEndpoint = "token_endpoint"
        case userinfoEndpoint = "userinfo_endpoint"
        case keysAddress = "jwks_uri"
        case scopes = "scopes_supported"
        case tokenMethods = "token_endpoint_auth_methods_supported"
    }

    /// The scopes to ask for: `groups` only of a provider that names it, since others refuse unknown ones.
    var scope: String {
        "openid"
            + ["profile", "email", "groups"].filter { scope in scopes?.contains(scope) ?? (scope != "groups") }
            .map { " \($0)" }.joined()
    }

    /// Whether the client's secret is sent as Basic credentials, which is the default (OpenID Connect Core 1.0, section 9).
    var takesBasic: Bool { tokenMethods.map { $0.contains("client_secret_basic") } ?? true }

    /// The addresses of the document.
    var addresses: [String] {
        [authorizationEndpoint, tokenEndpoint, keysAddress] + [userinfoEndpoint].compactMap(\.self)
    }
}

/// The answer of a provider's token endpoint (OpenID Connect Core 1.0, section 3.1.3.3).
struct TokenAnswer: Decodable, Sendable {
    let idToken: String
    let accessToken: String?

    enum CodingKeys: String, CodingKey {
        case idToken = "id_token"
        case accessToken = "access_token"
    }
}

/// What a provider says about a person, in an ID token or at its userinfo endpoint (OpenID Connect Core 1.0, section 5.1).
struct ProviderClaims: Decodable, Sendable {
    let subject: String?
    let mail: String?
    let isMailVerified: Bool
    let userName: String?
    let groups: [String]?

    enum CodingKeys: String, CodingKey {
        case subject = "sub"
        case mail = "email"
        case isMailVerified = "email_verified"
        case userName = "preferred_username"
        case groups
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        subject = try values.decodeIfPresent(String.self, forKey: .subject)
        mail = try? values.decodeIfPresent(String.self, forKey: .mail)
        // Some providers write it as a text.
        let isTrue = try? values.decodeIfPresent(Bool.self, forKey: .isMailVerified)
        let text = try? values.decodeIfPresent(String.self, forKey: .isMailVerified)
        isMailVerified = isTrue ?? (text == "true")
        userName = try? values.decodeIfPresent(String.self, forKey: .userName)
        groups =
            (try? values.decodeIfPresent([String].self, forKey: .groups))
            ?? (try? values.decodeIfPresent(String.self, forKey: .groups)).map { [$0] }
    }
}

/// A person whom a provider has signed in.
package struct ProvidedPerson: Hashable, Sendable {
    /// The most groups that are used; further ones are ignored.
    package static let maximumGroups = 200
    /// The longest name and mail address, in bytes.
    package static let maximumNameBytes = 128
    /// The longest name of a group, in bytes.
    static let maximumGroupBytes = 256

    /// The verified mail address; otherwise the user name or the provider's identifier of the person, with the provider's host behind it. Without the
    /// host, somebody could choose a user name that is the name of a token.
    package let name: String
    /// The verified mail address; `nil` if there is none.
    package let mail: String?
    package let groups: [String]

    /// - Parameters:
    ///   - token: The claims of the ID token.
    ///   - more: Those of the userinfo endpoint, for what the ID token does not have.
    ///   - host: The provider's host.
    /// - Returns: `nil` if neither has a name that can be shown.
    init?(_ token: ProviderClaims, _ more: ProviderClaims?, of host: String) {
        let withMail = [token, more].compactMap(\.self).first { $0.mail != nil }
        mail = withMail.flatMap { claims in
            claims.isMailVerified ? claims.mail.flatMap { $0.contains("@") ? Self.plain($0) : nil } : nil
        }
        let names = [mail] + [token.userName, more?.userName, token.subject].map { $0.map { "\($0) (\(host))" } }
        guard let name = names.lazy.compactMap({ $0.flatMap(Self.plain) }).first else { return nil }
        self.name = name
        groups = Array(
            (token.groups ?? more?.groups ?? []).filter { $0.utf8.count <= Self.maximumGroupBytes }
                .prefix(Self.maximumGroups))
    }

    /// Returns a name of 1 to `maximumNameBytes` bytes without control characters and line ends; `nil` for another text.
    private static func plain(_ text: String) -> String? {
        let isPlain = text.unicodeScalars.allSatisfy { scalar in
            ![.control, .lineSeparator, .paragraphSeparator, .surrogate, .format].contains(
                scalar.properties.generalCategory)
        }
        return isPlain && (1...maximumNameBytes).contains(text.utf8.count) ? text : nil
    }
}
