import API
import Integrations
import JobProtocol
import Jobs
import Model
import Releases
import Settings

extension API.Plan {
    /// - Parameter tools: See `JobDescription.Step.shownCommand`.
    init(_ plans: PushPlans, tools: String) {
        self.init(
            items: plans.branches.map { Branch($0, tools: tools) }, next: nil, omitted: plans.omitted,
            notes: plans.notes)
    }
}

extension API.Plan.Branch {
    fileprivate init(_ plan: PushPlan, tools: String) {
        var (unread, project, jobs): (String?, String?, [API.Plan.Job]) = (nil, nil, [])
        switch plan.content {
        case .planned(let recipe, let planned):
            project = recipe.recognition?.sentence
            jobs = planned.map { API.Plan.Job($0, tools: tools) }
        case .refused: break
        case .unread(let reason): unread = reason
        }
        self.init(
            ref: plan.ref.description, branch: plan.ref.branch, commit: plan.commit.description,
            release: plan.isRelease, unread: unread, project: project, notArchived: plan.notArchived,
            diagnostics: plan.diagnostics.map { API.Plan.Diagnostic($0) }, configurations: jobs,
            archive: plan.archive.map { API.Plan.Archive($0) },
            triggers: plan.actions.map { API.Plan.Trigger($0) })
    }
}

extension API.Plan.Job {
    fileprivate init(_ job: PushPlan.Job, tools: String) {
        self.init(
            name: job.configuration.name.description, problem: job.problem, toolchain: job.configuration.toolchain,
            image: job.configuration.image?.description, analysis: job.plan.notAnalyzed, tested: job.plan.notTested,
            steps: job.plan.steps.map { API.Plan.Step($0, tools: tools) })
    }
}

extension API.Plan.Step {
    fileprivate init(_ step: JobDescription.Step, tools: String) {
        self.init(
            step: step.step, name: step.name, command: step.shownCommand(tools: tools),
            directory: step.workingDirectory, network: step.network.rawValue,
            timeout: Double(step.timeoutMilliseconds) / 1000, report: step.report, required: step.isRequired)
    }
}

extension API.Plan.Archive {
    fileprivate init(_ archive: PushPlan.Archive) {
        self.init(
            configuration: archive.configuration.description, include: archive.include,
            products: archive.hasProducts, source: archive.hasProducts || archive.hasSource)
    }
}

extension API.Plan.Trigger {
    fileprivate init(_ action: PushPlan.Action) {
        var (version, reason): (String?, String?) = (nil, nil)
        let kind =
            switch action.trigger.action {
            case .run: "run"
            case .publish: "publish"
            case .upload: "upload"
            }
        switch action.prospect {
        case .version(let next): version = next.description
        case .noVersion(let why): reason = "no version: \(why)"
        case .unknown(let source): reason = "the version is known only when it is published: \(source)"
        case nil: break
        }
        self.init(
            name: action.trigger.name.description, kind: kind, phase: action.trigger.phase.rawValue,
            when: action.trigger.when.map(\.rawValue), version: version, reason: reason)
    }
}

extension API.Plan.Diagnostic {
    fileprivate init(_ diagnostic: Settings.Diagnostic) {
        self.init(
            file: diagnostic.file, line: diagnostic.line, column: diagnostic.column,
            severity: diagnostic.severity.rawValue, message: diagnostic.message)
    }
}
