import API
import Basics
import Encodings
import HTTPTypes
import Hummingbird
import JobProtocol
import Model
import Storage

/// Serves the files that an attempt archived, which lie packed in its directory (`ProductArchiver`).
struct ArtifactServer: Sendable {
    let site: Site

    /// Returns the path of an archived file.
    /// - Parameters:
    ///   - stored: The archived file.
    ///   - attempt: The attempt number to put into the path. If it is `nil`, the path leads to the latest attempt.
    static func path(of stored: StoredArtifact, attempt: Int? = nil) -> String {
        let id = stored.attempt
        return "/api/v1/bots/\(id.integration.bot)/integrations/\(id.integration.number)/artifacts/\(id.job)/"
            + PercentEncoding.encode(path: stored.artifact.path) + (attempt.map { "?attempt=\($0)" } ?? "")
    }

    /// Lists the archived files of an integration, or those of the requested attempt.
    /// - Throws: 401 for a caller that may not read it. Names and digests are protected like the bytes.
    func list(_ call: AuthorizedRequest) async throws -> Response {
        let record = try await site.integration(of: call)
        let isClosed = try await refuseClosed(record, call)
        let attempt = try call.attempt()
        let artifacts = try await site.store.artifacts(of: record.id, attempt: attempt)
        let reason = artifacts.isEmpty ? try await site.whyNotArchived(record) : nil
        var response = try Response.json(
            API.ArtifactList(
                items: artifacts.map {
                    API.Artifact($0.artifact, url: site.configuration.url + Self.path(of: $0, attempt: attempt))
                }, next: nil, notArchived: reason))
        if isClosed { response.forbidKeeping() }
        return response
    }

    /// Throws if the integration's archive is not public and the caller has no token.
    /// - Returns: Whether the archive is not public.
    private func refuseClosed(_ record: IntegrationRecord, _ call: AuthorizedRequest) async throws -> Bool {
        let isClosed = try await site.isClosed(record.id)
        if isClosed, let refusal = Access.product.refusal(of: call.caller, as: call.role, anonymousMayRead: false) {
            throw refusal
        }
        return isClosed
    }

    /// Sends an archived file.
    /// - Throws: 404 for a file that the store does not list, even if it exists on disk.
    func send(_ call: AuthorizedRequest) async throws -> Response {
        let record = try await site.integration(of: call)
        let isClosed = try await refuseClosed(record, call)
        let (job, path) = (try call.name("job"), call.text("file"))
        let candidates = try await site.store.artifacts(of: record.id, attempt: call.attempt())
            .filter { $0.attempt.job == job && $0.artifact.path == path }
        guard let stored = candidates.max(by: { $0.attempt.attempt < $1.attempt.attempt }) else {
            throw Problem.notFound
        }
        // A path without an attempt number changes its meaning with a rerun, and `latest` with the next integration.
        let isFixed = try call.attempt() != nil && call.text("number") != "latest"
        let keeping = isFixed ? "public, max-age=3600" : "public, no-cache"
        let attempt = AttemptPaths("integrations/\(record.id.bot)/\(record.id.number)/\(job)/\(stored.attempt.attempt)")
        let files = PublishedFile(
            root: site.configuration.state, path: "\(attempt.archives)/\(path)", artifact: stored.artifact,
            cacheControl: isClosed ? "no-store" : keeping, site: site)
        do {
            return try await files.response(to: call)
        } catch let problem as Problem where problem.status == 404 {
            // If the integration was removed after its row was read, this throws 410 instead.
            _ = try await site.integration(of: call)
            throw problem
        }
    }
}

extension Site {
    /// Returns why an integration archived nothing, according to its recipe and the bot's triggers at that time.
    /// - Returns: `nil` if it archived files, or has not read its recipe.
    func whyNotArchived(_ record: IntegrationRecord) async throws -> String? {
        guard let recipe = record.recipe, let bot = try await store.specification(of: record.id) else { return nil }
        return bot.whyNotArchived(recipe, on: record.ref)
    }
}

extension Response {
    /// Forbids caches to store the answer, because callers without a token see less.
    mutating func forbidKeeping() {
        headers[.cacheControl] = "no-store"
        headers[.vary] = "Authorization"
    }
}
