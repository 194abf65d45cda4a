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
            exists: { path in
                // A path that leaves the tree, or passes a link, is none of the tree's.
                (try? Directory(opening: workspace.tree).status(path)) != nil
            })
        let reading = try await BlockingLane(label: "processing.\(id)").run {
            try AttemptProcessor().read(directory, context: context, memory: WarningMemory(workspace: workspace))
        }
        let lines = try await sourceLines(of: reading.paths, at: request.integration.commit, in: request.mirror)
        var results = reading.outcome { path, line in
            guard let lines = lines[path], lines.indices.contains(line - 1) else { return nil }
            return lines[line - 1]
        }
        if results.verdict.isPublishable || results.verdict == .testFailures {
            do {
                results.artifacts = try await archiver.archive(directory, of: request)
            } catch let error as ArchivingError {
                results.verdict = max(results.verdict, .buildErrors)
                results.reason = results.reason ?? error.description
                results.notes.append(error.description)
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
