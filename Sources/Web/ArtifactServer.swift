import Basics
import HTTPTypes
import Hummingbird
import JobProtocol
import Model
import Storage

/// What an attempt archived, as it lies packed in its directory (`ProductArchiver`).
struct ArtifactServer: Sendable {
    let site: Site

    /// - Parameter attempt: Written into it where an attempt was asked for; without it the latest is served.
    static func path(of stored: StoredArtifact, attempt: Int? = nil) -> String {
        let id = stored.attempt
        return "/api/v1/bots/\(id.integration.bot)/integrations/\(id.integration.number)/artifacts/\(id.job)/"
            + URLText.path(stored.artifact.path) + (attempt.map { "?attempt=\($0)" } ?? "")
    }

    /// - Throws: 404 for what the store does not list: a file that only lies there is not served.
    func send(_ call: Call) async throws -> Response {
        let record = try await site.integration(of: call)
        // The same bytes as a closed product's.
        let product = try await site.store.product(of: record.id.bot)
        let access = try await site.access()
        let products = try await site.store.products(madeBy: record.id) + [product].compactMap(\.self)
        let isClosed = products.contains { !access.isPublic($0) }
        if isClosed, let refusal = Access.product.refusal(of: call.caller, anonymousMayRead: false) { throw refusal }
        let (job, path) = (try call.name("job"), call.text("file"))
        let candidates = try await site.store.artifacts(of: record.id, attempt: call.attempt())
            .filter { $0.attempt.job == job && $0.artifact.path == path }
        guard let stored = candidates.max(by: { $0.attempt.attempt < $1.attempt.attempt }) else {
            throw Problem.notFound
        }
        let attempt = AttemptPaths("integrations/\(record.id.bot)/\(record.id.number)/\(job)/\(stored.attempt.attempt)")
        let files = PublishedFile(
            root: site.configuration.state, path: "\(attempt.archives)/\(path)", artifact: stored.artifact,
            cacheControl: isClosed ? "no-store" : "public, max-age=3600", site: site)
        do {
            return try await files.response(to: call)
        } catch let problem as Problem where problem.status == 404 {
            // Removed since its row was read: says so.
            _ = try await site.integration(of: call)
            throw problem
        }
    }
}
