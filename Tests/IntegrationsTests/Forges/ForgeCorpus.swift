import Foundation
import Model
import Storage
import TestSupport

@testable import Forges
@testable import Integrations

/// The collected bodies with the headers that the collection states for them.
enum ForgeCorpus {
    private struct Line: Decodable {
        var file: String
        var headers: [String: String]?
        var expect: String?
    }

    struct Body {
        /// The path without `webhooks/` and `.json`.
        var name: String
        var delivery: ForgeDelivery
        /// The meaning according to another project's tests.
        var golden: String?
    }

    static func bodies() throws -> [Body] {
        let text = try Corpus.file("MANIFEST.jsonl").text()
        var bodies: [Body] = []
        for line in text.split(separator: "\n") where line.contains("webhooks/") {
            let line = try JSONDecoder().decode(Line.self, from: Data(line.utf8))
            guard line.file.hasPrefix("webhooks/"), line.file.hasSuffix(".json") else { continue }
            let folder = String(line.file.split(separator: "/")[1])
            guard let forge = Forge(rawValue: folder == "bitbucket-cloud" ? "bitbucket" : folder) else { continue }
            let headers = Dictionary((line.headers ?? [:]).map { ($0.key.lowercased(), $0.value) }) { $1 }
            bodies.append(
                Body(
                    name: String(line.file.dropFirst("webhooks/".count).dropLast(".json".count)),
                    delivery: ForgeDelivery(
                        forge: forge, bot: nil, headers: headers, body: try Corpus.file(line.file).bytes()),
                    golden: line.expect))
        }
        return bodies
    }

    /// Returns the reader's result for a delivery, in one line.
    static func line(_ delivery: ForgeDelivery) -> String {
        let event: ForgeEvent
        do { event = try ForgeEventReader.read(delivery) } catch { return "refused" }
        let claims = event.claims.map { claim in
            let commits = [claim.before, claim.after].map { String(($0?.description ?? "").prefix(7)) }
            return " \(claim.ref) \(commits[0])..\(commits[1])"
        }
        switch event.kind {
        case .push: return "push" + claims.joined()
        case .created: return "created" + claims.joined()
        case .deleted: return "deleted" + claims.joined()
        case .pullRequest(let change): return change.rawValue
        case .ping: return "ping"
        case .ignored: return "ignored"
        }
    }
}
