import Archives
import Basics
import BotSupport
import Encodings
import Foundation
import Model
import TestSupport

@testable import Forges
@testable import Integrations

/// Deliveries as forges send them.
enum ForgeSample {
    static let hosted = Forge.allCases.filter { $0 != .push }
    static let zero = String(repeating: "0", count: 40)
    static let one = String(repeating: "1", count: 40)

    static func hmac(_ body: [UInt8], _ secret: String = "a secret") -> String {
        Hexadecimal.encode(Digest.hmacSHA256(key: Array(secret.utf8), message: body))
    }

    /// Returns a push of one branch, in the forge's format.
    static func push(
        _ forge: Forge, ref: String = "main", before: String = zero, after: String = one,
        repository: String = "acme/kit"
    ) -> String {
        let url = "https://git.example/\(repository)"
        switch forge {
        case .gitlab:
            return #"{"object_kind":"push","event_name":"push","before":"\#(before)","after":"\#(after)","#
                + #""ref":"refs/heads/\#(ref)","project":{"git_http_url":"\#(url).git","path_with_namespace":"\#(repository)"}}"#
        case .bitbucket:
            func side(_ commit: String) -> String {
                commit == zero ? "null" : #"{"type":"branch","name":"\#(ref)","target":{"hash":"\#(commit)"}}"#
            }
            return #"{"push":{"changes":[{"old":\#(side(before)),"new":\#(side(after))}]},"#
                + #""repository":{"full_name":"\#(repository)","links":{"html":{"href":"\#(url)"}}}}"#
        case .bitbucketServer:
            let parts = repository.split(separator: "/")
            return #"{"eventKey":"repo:refs_changed","changes":[{"ref":{"id":"refs/heads/\#(ref)"},"#
                + #""fromHash":"\#(before)","toHash":"\#(after)"}],"repository":{"slug":"\#(parts[1])","#
                + #""project":{"key":"\#(parts[0])"},"links":{"clone":[{"href":"\#(url).git"}]}}}"#
        default:
            return #"{"ref":"refs/heads/\#(ref)","before":"\#(before)","after":"\#(after)","#
                + #""repository":{"full_name":"\#(repository)","clone_url":"\#(url).git"}}"#
        }
    }

    /// Returns the forge's word for a push.
    static func word(_ forge: Forge) -> String {
        switch forge {
        case .gitlab: "Push Hook"
        case .bitbucket: "repo:push"
        case .bitbucketServer: "repo:refs_changed"
        default: "push"
        }
    }

    /// Returns the forge's own signature header with a value, or its token.
    static func proof(_ forge: Forge, _ body: [UInt8], _ secret: String = "a secret") -> (name: String, value: String) {
        switch forge {
        case .github, .push: ("x-hub-signature-256", "sha256=" + hmac(body, secret))
        case .gitlab: ("x-gitlab-token", secret)
        case .gitea: ("x-gitea-signature", hmac(body, secret))
        case .forgejo: ("x-forgejo-signature", hmac(body, secret))
        case .gogs: ("x-gogs-signature", hmac(body, secret))
        case .bitbucket, .bitbucketServer: ("x-hub-signature", "sha256=" + hmac(body, secret))
        }
    }

    /// Returns a signed delivery with the headers that its forge sends.
    static func delivery(
        _ forge: Forge, _ body: String? = nil, bot: String? = "kit", event: String? = nil, id: String? = "d-1",
        secret: String = "a secret"
    ) throws -> ForgeDelivery {
        let bytes = Array((body ?? push(forge)).utf8)
        var headers = ["content-type": "application/json"]
        headers[forge.eventHeaders[0]] = event ?? word(forge)
        headers[forge.deliveryHeaders[0]] = id
        let proof = proof(forge, bytes, secret)
        headers[proof.name] = proof.value
        return ForgeDelivery(forge: forge, bot: try bot.map(Samples.name), headers: headers, body: bytes)
    }

    /// Reads a body without checking its signature.
    static func read(
        _ forge: Forge, _ body: String, event: String? = nil, headers: [String: String] = [:]
    ) throws -> ForgeEvent {
        var all = [forge.eventHeaders[0]: event ?? word(forge)]
        all.merge(headers) { $1 }
        return try ForgeEventReader.read(ForgeDelivery(forge: forge, bot: nil, headers: all, body: Array(body.utf8)))
    }
}

extension EventIntake {
    init(_ core: Core, scans: Signal = Signal()) {
        self.init(
            store: core.store, registry: core.registry, clock: core.time.clock, scans: scans, logger: core.log.logger)
    }
}
