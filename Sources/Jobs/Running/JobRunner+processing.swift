import Archives
import Basics
import Execution
import Glibc
import Issues
import Logging
import Model
import Redaction
import Reports
import SourceControl
import Storage

extension JobRunner {
    /// Reads the files that the job left, archives its products, and stores both.
    /// - Parameter steps: The last changes to the job's steps, which are stored with the results.
    func process(
        _ id: AttemptID, _ directory: AttemptDirectory, plan: JobPlanner.Plan, steps: [StepChange],
        _ workspace: Workspace, _ request: Request, _ cancellation: Cancellation
    ) async throws {
        let whole = request.testFilter == nil ? nil : try await wholeAttempt(before: id)
        let context = AttemptProcessor.Context(
            configuration: id.job, plan: plan,
            // A filter is meant to run fewer tests, so their number is not compared.
            previousTests: request.testFilter == nil && request.configuration.testsNothing != true
                ? try await store.earlierTests(before: id.integration, configuration: id.job) : nil,
            expectsTests: request.testFilter == nil && !request.recipe.mayTestNothing(request.configuration),
            ownCommands: request.recipe.recognition?.ownCommands ?? [],
            filterAlone: whole == nil ? request.testFilter : nil,
            askedReports: Self.askedReports(of: request.configuration), masking: await masking(of: request, id),
            digest: digest(in: workspace, of: request), hidden: isolation.hidden)
        let (reader, stop) = (reader, ReaderProgram.Stop())
        // A daemon that stops does not wait for the reading; the next daemon reads again.
        let reading = try await withTaskCancellationHandler {
            try await SerialQueue(label: "processing.\(id)").run {
                try AttemptProcessor(reader: reader, stop: stop).read(
                    directory, context: context, warnings: try self.warnings(of: workspace, directory))
            }
        } onCancel: {
            stop.request()
        }
        let lines = try await sourceLines(reading.places, at: request.integration.commit, in: request.mirror)
        var results = await queue.run { reading.outcome { path, line in lines[path]?[line] } }
        let unnamed = results
        // Tests are named as they will be stored, so that each is found among the earlier ones.
        results = await queue.run { unnamed.namingEachTestOnce() }
        let flaky = try await FlakyTests(before: id, in: store)
        results = flaky.marking(results, attempt: id.attempt)
        if let filter = request.testFilter, let whole {
            results = try await completed(results, from: whole, filter: filter)
        }
        await addEnding(of: directory, to: &results)
        if context.filterAlone == nil { results = flaky.requiring(results) }
        results = results.reportingFlakyTests()
        if results.verdict.isPublishable {
            do {
                // The job's files are copied already, so its workspace can make room for their archives.
                let archived = try await withRoom(
                    for: id.integration, cancellation, makingRoom: { await empty(workspace) },
                    { try await archiver.archive(directory, of: request) })
                results.artifacts = archived.artifacts
                results.tell(leftOut: archived.leftOut)
            } catch {
                // The job's files cannot be archived: some are missing, or their names are not permitted in an archive.
                guard error is ArchivingError || error is ArchiveError else { throw error }
                // A disk fault is not the job's fault.
                if let error = error as? ArchiveError, error.code == .file { throw error }
                results.verdict = .buildErrors
                results.reason = "\(error)"
            }
        }
        results.logPlaces = try await SerialQueue(label: "places.\(id)").run { [results] in
            try directory.logPlaces(of: results)
        }
        if request.configuration.name == request.recipe.configurations.first?.name {
            results.tell(remarks: request.recipe.remarks ?? [])
        }
        try await store.storeResults(results, of: id, steps: steps, at: clock.now())
        if results.verdict == .internalError { tellFault(of: id, results.reason) }
    }

    /// Returns a function for the digest of a file of the workspace.
    private func digest(in workspace: Workspace, of request: Request) -> @Sendable (String) -> String? {
        let limit = Self.maximumSourceBytes
        if isOnNode(workspace) { return committedDigest(request.mirror, request.integration.commit, limit: limit) }
        // A path that leaves the tree, leads through a link, or names a very large file has no digest.
        return { path in (try? Directory(opening: workspace.tree).read(path, limit: limit)).map(Digest.sha256) }
    }

    /// Returns a redactor for the job's secrets. `nil` if the job has no secrets or they are no longer available; the job's output was masked while
    /// it ran.
    private func masking(of request: Request, _ id: AttemptID) async -> LogRedactor? {
        do {
            let values = try await secretValues(of: request, domain: Workspaces.TrustDomain(request.integration)).values
            return values.isEmpty ? nil : LogRedactor(secrets: values)
        } catch {
            logger.warning(
                "a job's files are read without its secrets", metadata: ["attempt": "\(id)", "error": "\(error)"])
            return nil
        }
    }

    private static func askedReports(of configuration: Recipe.Configuration) -> [String: [String]] {
        var asked = configuration.report.isEmpty ? [:] : ["test": configuration.report]
        for step in configuration.steps ?? [] where step.kind == .testing && !step.command.report.isEmpty {
            asked[step.name.description] = step.command.report
        }
        return asked
    }

    /// Returns the last attempt before this one that ran all tests of its configuration; `nil` if there is none.
    private func wholeAttempt(before id: AttemptID) async throws -> AttemptID? {
        try await store.attempts(of: id.integration)
            .last { $0.id.job == id.job && $0.id < id && $0.hasWholeTests }?.id
    }

    /// Combines the results of a filtered run with those of the other tests in an earlier attempt.
    private func completed(
        _ results: AttemptResults, from before: AttemptID, filter: String
    ) async throws -> AttemptResults {
        let tests = try await store.tests(
            of: before.integration, attempt: before.attempt, configuration: before.job)
        return FilteredResults(
            filter: filter, before: before.attempt, tests: tests.map(\.result),
            findings: try await store.findings(of: before)
        ).completing(results)
    }

    /// The largest file, in bytes, of which line texts are read. A finding in a larger file is identified by its message.
    private static let maximumSourceBytes = 4 << 20
    /// The most files whose lines are read for one attempt.
    private static let maximumSourceFiles = 1000
    /// The most bytes of a line that distinguish it from other lines.
    private static let maximumLineBytes = 4096

    /// Returns the text of the lines with findings, by path and number. One file at a time is in memory.
    private func sourceLines(
        _ places: [String: Set<Int>], at commit: CommitID, in mirror: Mirror
    ) async throws -> [String: [Int: String]] {
        var lines: [String: [Int: String]] = [:]
        for (path, numbers) in places.sorted(by: { $0.key < $1.key }).prefix(Self.maximumSourceFiles) {
            // A path that is not a file of the commit has no lines; it may be a generated file.
            guard let bytes = try? await mirror.file(path, at: commit, limit: Self.maximumSourceBytes) else { continue }
            lines[path] = await queue.run { Self.lines(numbers, of: bytes) }
        }
        return lines
    }

    private static func lines(_ numbers: Set<Int>, of bytes: [UInt8]) -> [Int: String] {
        var lines: [Int: String] = [:]
        var number = 0
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            if numbers.contains(number) {
                lines[number] = String(decoding: line.prefix(maximumLineBytes), as: UTF8.self)
            }
        }
        return lines
    }
}

extension AttemptDirectory {
    private static let pieceBytes = 256 * 1024

    /// Returns the lines of the log that findings and failing tests are about. Blocks: it reads the whole log if there are any.
    /// - Throws: `ExecutionError` if the log cannot be read.
    func logPlaces(of results: AttemptResults) throws -> [LogPlace] {
        var locator = LogLocator(findings: results.findings.map(\.finding), tests: results.tests)
        guard !locator.isDone, let log = try AttemptLog.open(in: path) else { return [] }
        var offset: Int64 = 0
        while !locator.isDone {
            let piece = try log.read(at: offset, count: Self.pieceBytes)
            if piece.isEmpty { break }
            locator.consume(piece)
            offset += Int64(piece.count)
        }
        return locator.finish()
    }
}
