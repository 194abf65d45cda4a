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

    /// All that was archived, or of one attempt.
    /// - Throws: 401 for who may not read it: names and digests are as closed as the bytes.
    func list(_ call: Call) async throws -> Response {
        let record = try await site.integration(of: call)
        let isClosed = try await refuseClosed(record, call)
        let attempt = try call.attempt()
        let artifacts = try await site.store.artifacts(of: record.id, attempt: attempt)
        var response = Response.json([
            "items": .array(
                artifacts.map {
                    JSONValue($0.artifact, url: site.configuration.url + Self.path(of: $0, attempt: attempt))
                }), "next": nil,
            "notArchived": .init(artifacts.isEmpty ? try await site.whyNotArchived(record) : nil),
        ])
        if isClosed { response.forbidKeeping() }
        return response
    }

    /// - Returns: Whether it is closed to others than this caller.
    private func refuseClosed(_ record: IntegrationRecord, _ call: Call) async throws -> Bool {
        let isClosed = try await site.isClosed(record.id)
        if isClosed, let refusal = Access.product.refusal(of: call.caller, anonymousMayRead: false) { throw refusal }
        return isClosed
    }

    /// - Throws: 404 for what the store does not list: a file that only lies there is not served.
    func send(_ call: Call) async throws -> Response {
        let record = try await site.integration(of: call)
        let isClosed = try await refuseClosed(record, call)
        let (job, path) = (try call.name("job"), call.text("file"))
        let candidates = try await site.store.artifacts(of: record.id, attempt: call.attempt())
            .filter { $0.attempt.job == job && $0.artifact.path == path }
        guard let stored = candidates.max(by: { $0.attempt.attempt < $1.attempt.attempt }) else {
            throw Problem.notFound
        }
        // What an address without an attempt means changes with a rerun, what `latest` means with the next integration.
        let isFixed = try call.attempt() != nil && call.text("number") != "latest"
        let keeping = isFixed ? "public, max-age=3600" : "public, no-cache"
        let attempt = AttemptPaths("integrations/\(record.id.bot)/\(record.id.number)/\(job)/\(stored.attempt.attempt)")
        let files = PublishedFile(
            root: site.configuration.state, path: "\(attempt.archives)/\(path)", artifact: stored.artifact,
            cacheControl: isClosed ? "no-store" : keeping, site: site)
        do {
            return try await files.response(to: call)
        } catch let problem as Problem where problem.status == 404 {
            // Removed since its row was read: says so.
            _ = try await site.integration(of: call)
            throw problem
        }
    }
}

extension Site {
    /// Why an integration archived nothing, by its recipe and the bot's triggers as it ran; `nil` if it archived, or has not read its recipe.
    func whyNotArchived(_ record: IntegrationRecord) async throws -> String? {
        guard let recipe = record.recipe, let bot = try await store.specification(of: record.id) else { return nil }
        return bot.whyNotArchived(recipe, on: record.ref)
    }
}

extension Response {
    /// Callers without a token are shown less: nobody keeps it.
    mutating func forbidKeeping() {
        headers[.cacheControl] = "no-store"
        headers[.vary] = "Authorization"
    }
}
