import Basics
import Encodings
import Model
package import Notifications
package import Settings
package import Storage
package import Transfer

/// The access to forges that all senders of the outbox share. Requests follow the bot's file: the token is read for each request, the size of answers
/// is limited, and redirects are not followed.
package struct ForgeAccess: Sendable {
    let store: Store
    let bots: any BotSource
    private let secrets: SecretStore
    private let transport: any Transport
    private let clock: WallClock
    private let url: String
    private let queue = SerialQueue(label: "forge-secrets")

    /// - Parameter url: The URL of the service, for links.
    package init(
        store: Store, bots: any BotSource, secrets: SecretStore, transport: any Transport, clock: WallClock,
        url: String
    ) {
        self.store = store
        self.bots = bots
        self.secrets = secrets
        self.transport = transport
        self.clock = clock
        self.url = url.hasSuffix("/") ? String(url.dropLast()) : url
    }

    /// Returns the URL of the page that a message is about.
    func page(of message: OutboxMessage) -> String {
        message.integration.map { "\(url)/bots/\($0.bot)/\($0.number)" } ?? "\(url)/bots/\(message.bot)"
    }

    /// Runs a try, and returns its outcome even if it ends early by a `Stop` or another error.
    func outcome(_ body: () async throws -> OutboxOutcome) async -> OutboxOutcome {
        do {
            return try await body()
        } catch let stop as Stop {
            return stop.outcome
        } catch {
            return .failed(OutboxFailure("\(error)", isOfDestination: false))
        }
    }

    /// Returns the target's secret: an access token, or `user:password`.
    /// - Throws: `Stop` if it is not set, `SettingsError`.
    func secret(of target: StatusTarget) async throws -> String {
        let (secrets, name) = (secrets, target.credentials)
        guard let secret = try await queue.run({ () throws(SettingsError) in try secrets.value(name) }) else {
            // The message is sent automatically once the secret is set.
            throw Stop(
                .failed(
                    OutboxFailure("the secret \(name) is not set; set it with `martlet secret set \(name)`")))
        }
        return secret
    }

    /// Sends a request to the forge.
    /// - Throws: `Stop` if there is no answer.
    func ask(
        _ target: StatusTarget, _ request: TransferRequest, secret: String
    ) async throws(Stop) -> ForgeAnswer {
        let url = request.url.split(separator: "?", maxSplits: 1)[0]
        do throws(TransferError) {
            let response = try await transport.perform(request)
            return ForgeAnswer(
                operation: "\(request.method.rawValue) \(url)", response: response, secret: secret,
                credentials: target.credentials, forge: target.forge, now: clock.now())
        } catch {
            throw Stop(Self.outcome(of: error))
        }
    }

    private static func outcome(of error: TransferError) -> OutboxOutcome {
        switch error.code {
        case .canceled: .interrupted
        case .invalid, .schemeRefused: .refused("\(error)")
        // The messages wait until an operator stores another token or the forge can be reached.
        case .unreachable, .certificate, .credentials:
            .failed(OutboxFailure("\(error)", isOfCredentials: error.isOfCredentials))
        default: .failed(OutboxFailure("\(error)", mayHaveArrived: true))
        }
    }

    /// The early end of a try, with its outcome.
    struct Stop: Error {
        let outcome: OutboxOutcome

        init(_ outcome: OutboxOutcome) { self.outcome = outcome }
    }
}

extension StatusTarget {
    /// Returns a request to the forge, with the token in the form that this forge expects.
    /// - Parameter secret: An access token, or `user:password`.
    func request(
        _ method: TransferRequest.Method, _ path: String, secret: String, json: [String: String]? = nil
    ) throws(ForgeAccess.Stop) -> TransferRequest {
        var request = TransferRequest(method, api + path, headers: ["Accept": "application/json"])
        request.limits = TransferLimits(
            total: .seconds(30), stall: .seconds(15), response: Int64(ForgeAnswer.maximumBody))
        request.isPlainHTTPAllowed = api.hasPrefix("http:")
        guard secret.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
            throw .init(
                .failed(OutboxFailure("the secret \(credentials) has a control character in it; store it anew")))
        }
        switch forge {
        case .gitlab: request.headers["PRIVATE-TOKEN"] = secret
        case .gitea where !secret.contains(":"), .forgejo where !secret.contains(":"):
            request.headers["Authorization"] = "token " + secret
        default:
            guard let known = TransferCredentials(secret: secret, file: nil) else {
                throw .init(
                    .failed(
                        OutboxFailure("the secret \(credentials) is neither a token nor `user:password`; store it anew")
                    ))
            }
            request.credentials = known
            // The version of GitHub's API (docs.github.com/rest/about-the-rest-api/api-versions).
            if forge == .github {
                request.headers["Accept"] = "application/vnd.github+json"
                request.headers["X-GitHub-Api-Version"] = "2022-11-28"
            }
        }
        if let json {
            request.headers["Content-Type"] = "application/json"
            request.body = .bytes(ForgeAnswer.bytes(of: json))
        }
        return request
    }

    /// The project as a path, with each part percent-encoded.
    var projectPath: String { PercentEncoding.encode(path: project) }
}
