import Basics
import Dispatch
import Execution
import Glibc
import JobProtocol
import Logging
import Model
import SourceControl
import Storage
import Synchronization

/// Jobs on a cluster: they are planned from the mirror, because the commit is checked out on a node that is not known yet.
extension JobRunner {
    /// Whether a workspace is on a node, where the daemon cannot reach it.
    func isOnNode(_ workspace: Workspace) -> Bool { !workspace.path.hasPrefix(state.workspaces + "/") }

    /// Returns the slots of an attempt's executor.
    func slots(of id: AttemptID) async -> JobSlots {
        let directory = directory(of: id)
        // An unreadable file has no executor. The attempt then ends with a sentence about the file.
        let placement = await queue.run { try? directory.placement() }
        guard let placement else { return slots }
        return executors?.candidates.first { $0.name == placement.executor }?.slots ?? slots
    }

    /// Writes the directory of a job for a cluster.
    func prepareForNode(
        _ id: AttemptID, _ request: Request, in workspace: Workspace, on candidate: ExecutorChoice.Candidate,
        _ token: SecretToken?
    ) async throws -> JobPlanner.Plan {
        let directory = directory(of: id)
        let (mirror, commit) = (request.mirror, request.integration.commit)
        try await enter(id, at: clock.now())
        let history = try await history(of: request)
        let plan = try await mirror.read(treeOf: commit) { tree throws(SourceControlError) in
            try self.plan(
                request.configuration, of: request.recipe, files: CommittedFiles(tree: tree), bot: request.bot,
                ref: request.integration.ref, testFilter: request.testFilter, pull: request.integration.pull)
        }
        guard !plan.steps.isEmpty else {
            throw PreparationError.nothingToDo(configuration: request.configuration.name)
        }
        let objects = mirror.objects
        return try await queue.run {
            try directory.make()
            let warmNode =
                request.integration.isClean || workspace.isThrowaway
                ? nil : self.nodeRecord(of: workspace, at: candidate.name).node
            let place = try self.place(
                of: request.configuration, bot: request.bot.name, in: workspace, objects: objects)
            let needs = request.configuration.needs ?? JobNeeds()
            var limits = self.isolation.limits(of: request.bot)
            // The settings' limit is for this machine. At the cluster Slurm enforces what the job was given.
            limits.memoryBytes = needs.memory?.bytes
            let order = CheckoutOrder(
                mirrors: self.state.repositories, repository: mirror.url.description, commit: commit,
                ref: request.integration.ref, tree: workspace.tree, clean: request.bot.clean,
                isClean: request.integration.isClean,
                kept: JobPlanner.keptDirectories(request.recipe.projectType(of: request.configuration)),
                hasSubmodules: request.bot.hasSubmodules && !request.isWithoutSubmodules,
                upstream: history.upstream.branches, defaultBranch: history.upstream.defaultBranch,
                acceptsPointers: request.bot.acceptsPointers == true,
                mark: NodeCleaning(directory: self.state.nodes, bot: request.bot.name).mark(place.mark),
                isSandboxed: place.sandbox != nil, reports: plan.steps.flatMap(\.report))
            try order.write(to: directory)
            if var token {
                token.certificates = SecretToken.trustedCertificates()
                try directory.record(token)
            }
            try directory.place(
                Placement(
                    executor: candidate.name, needs: needs, tokenDigest: token?.digest, warmNode: warmNode))
            try directory.prepare(
                self.description(of: plan, request, workspace, place, base: history.base, limits: limits))
            return plan
        }
    }

    /// Returns the record of which node has a workspace.
    private func nodeRecord(of workspace: Workspace, at executor: Name) -> NodeRecord {
        NodeRecord(directory: state.nodes, executor: executor, workspace: workspace.path)
    }

    /// Records which node has the workspace of an attempt that has ended, so that the next build runs there. The workspace of a lost attempt is not
    /// used again.
    func rememberNode(of workspace: Workspace, _ directory: AttemptDirectory, isLost: Bool = false) async {
        guard isOnNode(workspace) else { return }
        do {
            try await queue.run {
                guard let placement = try directory.placement() else { return }
                let record = self.nodeRecord(of: workspace, at: placement.executor)
                if isLost { return try record.remove() }
                guard let host = try directory.claimant()?.host else { return }
                try record.write(host)
            }
        } catch {
            logger.warning(
                "the node with a workspace could not be recorded; the next build may run elsewhere, from scratch",
                metadata: ["attempt": "\(directory.path)", "error": "\(error)"])
        }
    }

    /// Returns where the warnings of a workspace are stored. Those of a node's workspace are with the daemon, one file a node and workspace.
    func warnings(of workspace: Workspace, _ directory: AttemptDirectory) throws -> WarningCache? {
        guard isOnNode(workspace) else {
            return WarningCache(workspace: workspace, isTreeGone: access(workspace.tree, F_OK) != 0)
        }
        guard let placement = try directory.placement(), let host = try directory.claimant()?.host else { return nil }
        let digest = Digest.sha256(of: Array("\(placement.executor) \(host) \(workspace.path)".utf8))
        let place = NodeRecord.directory(of: digest, in: state.nodes)
        let records = try Directory(creating: place, mode: 0o700)
        let name = "\(digest.prefix(32)).json"
        // The node has emptied the workspace, so nothing of earlier builds is left in it.
        if access(directory.paths.fresh, F_OK) == 0 { try records.remove(name) }
        return WarningCache(file: "\(place)/\(name)")
    }

    /// Adds what the executor, not the job, brought about: a limit that it enforced, or a node that failed.
    func addEnding(of directory: AttemptDirectory, to results: inout AttemptResults) async {
        let (refused, notes) = await queue.run { (directory.refusedUse(), directory.nodeNotes()) }
        let told = [refused].compactMap(\.self) + notes
        if !told.isEmpty {
            results.reason = ([results.reason].compactMap(\.self) + told).joined(separator: "; ")
        }
        if let bytes = try? WholeFile.read(directory.paths.checkoutError, limit: 64 << 10) {
            (results.verdict, results.reason) = (.checkoutError, String(decoding: bytes, as: UTF8.self))
            return
        }
        guard results.verdict != .canceled, !results.verdict.isPublishable,
            let ending = await executor.ending(of: directory)
        else { return }
        if results.verdict == .internalError {
            // Other reasons are the supervisor's or the node's own, and say more.
            guard ending.isLimit || results.reason == Self.interruptedReason else { return }
            results.reason = ending.sentence
            guard ending.isLimit else { return }
            results.verdict = .buildErrors
            results.addPreparationError(ending.sentence)
        } else if ending.isLimit {
            results.reason = [results.reason, ending.sentence].compactMap(\.self).joined(separator: "; ")
        }
    }

    /// Returns a function for the content of a node's file as the commit has it, because the node's own cannot be read. It blocks, and is called on a
    /// serial queue.
    func committedDigest(_ mirror: Mirror, _ commit: CommitID, limit: Int) -> @Sendable (String) -> String? {
        { path in
            let (found, isDone) = (FoundDigest(), DispatchSemaphore(value: 0))
            Task {
                // A path that is no file of the commit has no digest.
                let bytes = try? await mirror.file(path, at: commit, limit: limit)
                let digest = bytes.flatMap { $0 }.map { Digest.sha256(of: $0) }
                found.value.withLock { $0 = digest }
                isDone.signal()
            }
            isDone.wait()
            return found.value.withLock { $0 }
        }
    }

    private final class FoundDigest: Sendable { let value = Mutex<String?>(nil) }
}
