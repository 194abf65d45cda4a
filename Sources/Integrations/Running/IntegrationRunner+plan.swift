import Basics
import Execution
import JobProtocol
import Jobs
import Model
import Releases
import Settings
import SourceControl
import Storage

/// Plans what the next pushes would run. It uses the functions that plan an integration's jobs, and reads only the mirror.
extension IntegrationRunner {
    /// Plans the next push of each watched branch that the last scan found. It reads the mirror and the store, and changes neither.
    /// - Throws: `StoreError`, `SourceControlError` and others if the mirror or the store cannot be read.
    func pushPlans(for bot: BotSpecification) async throws -> PushPlans {
        let heads = try await store.heads(of: bot.repository)
        let repository = try await store.repository(bot.repository)
        let defaultBranch = repository?.defaultBranch
        let branches = heads.keys.filter { $0.branch != nil && bot.watches($0, defaultBranch: defaultBranch) }
            .sorted { ($0 != defaultBranch ? 1 : 0, $0) < ($1 != defaultBranch ? 1 : 0, $1) }
        var plans = PushPlans(
            branches: [], omitted: max(0, branches.count - PushPlans.maximumBranches),
            notes: Self.notes(bot, heads: heads, repository))
        // No server is asked, so no credentials are needed.
        guard let mirror = remotes.mirror(holding: bot.repository) else { return plans }
        for ref in branches.prefix(PushPlans.maximumBranches) {
            guard let commit = heads[ref] else { continue }
            plans.branches.append(try await pushPlan(of: ref, at: commit, bot: bot, mirror: mirror))
        }
        return plans
    }

    private static func notes(
        _ bot: BotSpecification, heads: [RefName: CommitID], _ repository: RepositoryRecord?
    ) -> [String] {
        var notes: [String] = []
        if let error = repository?.lastError { notes.append("the repository needs attention: \(error)") }
        guard heads.contains(where: { $0.key.branch != nil }) else {
            return notes + ["no branch of the repository is known yet; the next scan finds its branches"]
        }
        for pattern in bot.branches ?? [] {
            let isMatched = heads.keys.contains { $0.branch.map(pattern.matches) ?? false }
            if !isMatched { notes.append("no branch of the repository matches `\(pattern)`") }
        }
        return notes
    }

    /// Plans the next push of a branch from its newest commit.
    private func pushPlan(
        of ref: RefName, at commit: CommitID, bot: BotSpecification, mirror: Mirror
    ) async throws -> PushPlan {
        var plan = PushPlan(
            ref: ref, commit: commit, isRelease: bot.isRelease(ref), content: .refused, diagnostics: [], archive: nil,
            actions: [])
        let content = try await mirror.content(
            of: commit, file: Self.file(of: bot), limit: Self.limit, project: ProjectTree.reader)
        guard let content else {
            plan.content = .unread(
                "the mirror does not have \(commit.abbreviated) yet; the branch's next integration fetches it "
                    + "(`martlet integrate \(bot.name) --commit \(ref.shortName)` begins one)")
            return plan
        }
        let reading = await recipes.recipe(of: content, bot: bot, on: ref)
        plan.diagnostics = reading.diagnostics
        guard let recipe = Self.usable(reading) else { return plan }
        let jobs = try await jobs.plans(of: recipe, at: commit, ref: ref, bot: bot, mirror: mirror)
        plan.content = .planned(recipe, jobs)
        plan.archive = Self.archive(of: recipe, jobs, bot: bot, ref: ref)
        plan.notArchived = bot.whyNotArchived(recipe, on: ref)
        for trigger in bot.triggers where trigger.matches(ref) {
            var action = PushPlan.Action(trigger: trigger)
            if case .publish(let source) = trigger.action, let publisher = triggers?.publisher {
                action.prospect = try await publisher.prospect(
                    of: source, product: bot.product, ref: ref, tip: commit, mirror: mirror)
                if plan.archive.map({ !$0.hasProducts && !$0.hasSource }) ?? true {
                    action.prospect = .noVersion(
                        plan.notArchived ?? "not archived: the archived configuration has no products")
                }
            }
            plan.actions.append(action)
        }
        return plan
    }

    private static func archive(
        of recipe: Recipe, _ jobs: [PushPlan.Job], bot: BotSpecification, ref: RefName
    ) -> PushPlan.Archive? {
        let archived = bot.archivedConfiguration(of: recipe, on: ref)
        guard let job = jobs.first(where: { $0.configuration.name == archived }) else { return nil }
        return PushPlan.Archive(
            configuration: job.configuration.name, include: recipe.archive.include,
            hasProducts: !job.plan.collect.isEmpty,
            hasSource: bot.usesProducts(of: ref))
    }
}

extension JobRunner {
    /// Plans the jobs of a commit in the mirror, as `prepare` does for a commit that was checked out.
    func plans(
        of recipe: Recipe, at commit: CommitID, ref: RefName, bot: BotSpecification, mirror: Mirror
    ) async throws -> [PushPlan.Job] {
        let runner = self
        var planned = try await mirror.read(treeOf: commit) { tree throws(SourceControlError) in
            var planned: [PushPlan.Job] = []
            for configuration in recipe.configurations {
                let plan = try runner.plan(
                    configuration, of: recipe, files: CommittedFiles(tree: tree), bot: bot, ref: ref)
                planned.append(PushPlan.Job(configuration: configuration, plan: plan))
            }
            return planned
        }
        for index in planned.indices {
            planned[index].problem = await problem(of: planned[index], of: recipe, ref: ref, bot: bot, mirror: mirror)
        }
        return planned
    }

    /// Returns why a job could not start: the reason that would make its integration fail with build errors before any command runs. `nil` if it
    /// could start.
    private func problem(
        of job: PushPlan.Job, of recipe: Recipe, ref: RefName, bot: BotSpecification, mirror: Mirror
    ) async -> String? {
        let configuration = job.configuration
        do {
            guard !job.plan.steps.isEmpty else {
                throw PreparationError.nothingToDo(configuration: configuration.name)
            }
            _ = try grantedSecrets(
                to: configuration, of: recipe, bot: bot, writers: [ref],
                domain: bot.isRelease(ref) ? .release : .trusted)
            // This reads the directories of images.
            try await queue.run {
                // Only the recipe's requests matter, which are the same in every workspace.
                _ = try self.place(
                    of: configuration, bot: bot.name, in: Workspace(path: state.workspaces), objects: mirror.objects)
            }
            return nil
        } catch {
            return "\(error)"
        }
    }
}
