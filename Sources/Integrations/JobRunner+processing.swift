import Archives
import Basics
import Execution
import Model
import SourceControl
import Storage

extension JobRunner {
    /// Reads what the job left, packs what it archived, and stores both.
    func process(
        _ id: AttemptID, _ directory: AttemptDirectory, plan: JobPlanner.Plan, _ workspace: Workspace,
        _ request: Request
    ) async throws {
        let context = AttemptProcessor.Context(
            configuration: id.job, plan: plan, previousTests: request.previousTests,
            askedReports: request.configuration.report.isEmpty ? nil : request.configuration.report,
            digest: { path in
                // A path that leaves the tree, passes a link, or is very large, has none.
                (try? Directory(opening: workspace.tree).read(path, limit: Self.maximumSourceBytes)).map(Digest.sha256)
            })
        let reading = try await BlockingLane(label: "processing.\(id)").run {
            try AttemptProcessor().read(directory, context: context, memory: WarningMemory(workspace: workspace))
        }
        let lines = try await sourceLines(of: reading.paths, at: request.integration.commit, in: request.mirror)
        var results = reading.outcome { path, line in
            guard let lines = lines[path], lines.indices.contains(line - 1) else { return nil }
            return lines[line - 1]
        }
        if results.verdict.isPublishable {
            do {
                results.artifacts = try await archiver.archive(directory, of: request)
            } catch {
                // What the job left cannot be packed: files that are not there, names that no archive may have.
                guard error is ArchivingError || error is ArchiveError else { throw error }
                results.verdict = .buildErrors
                results.reason = "\(error)"
            }
        }
        try await store.storeResults(results, of: id, at: clock.now())
    }

    /// Larger files give no line text, in bytes; a finding in one is then known by its message.
    private static let maximumSourceBytes = 4 << 20
    /// The most files whose lines are read for one attempt.
    private static let maximumSourceFiles = 1000

    private func sourceLines(
        of paths: Set<String>, at commit: CommitID, in mirror: Mirror
    ) async throws -> [String: [String]] {
        var lines: [String: [String]] = [:]
        for path in paths.sorted().prefix(Self.maximumSourceFiles) {
            // A path that the tree does not have, or that is no file, has no lines: a generated file.
            guard let bytes = try? await mirror.file(path, at: commit, limit: Self.maximumSourceBytes) else { continue }
            lines[path] = String(decoding: bytes, as: UTF8.self)
                .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        }
        return lines
    }
}
