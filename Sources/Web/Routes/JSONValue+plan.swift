import Integrations
import JobProtocol
import Model
import Settings

extension JSONValue {
    /// Writes what the next pushes to a bot's branches would run.
    /// - Parameter supervisor: See `JobDescription.Step.shownCommand`.
    init(_ plans: PushPlans, supervisor: String) {
        self = [
            "items": .array(plans.branches.map { JSONValue($0, supervisor: supervisor) }), "next": nil,
            "omitted": .integer(Int64(plans.omitted)), "notes": .array(plans.notes.map { .string($0) }),
        ]
    }

    private init(_ plan: PushPlan, supervisor: String) {
        var (unread, project, jobs): (String?, String?, [JSONValue]) = (nil, nil, [])
        switch plan.content {
        case .planned(let recipe, let planned):
            project = recipe.recognition?.sentence
            jobs = planned.map { JSONValue($0, supervisor: supervisor) }
        case .refused: break
        case .unread(let reason): unread = reason
        }
        self = [
            "ref": .string(plan.ref.description), "branch": .init(plan.ref.branch),
            "commit": .string(plan.commit.description), "release": .bool(plan.isRelease), "unread": .init(unread),
            "project": .init(project), "notArchived": .init(plan.notArchived),
            "diagnostics": .array(plan.diagnostics.map { JSONValue($0) }),
            "configurations": .array(jobs),
            "archive": plan.archive.map { JSONValue($0) } ?? .null,
            "triggers": .array(plan.actions.map { JSONValue($0) }),
        ]
    }

    private init(_ job: PushPlan.Job, supervisor: String) {
        self = [
            "name": .string(job.configuration.name.description), "problem": .init(job.problem),
            "toolchain": .init(job.configuration.toolchain), "image": .init(describing: job.configuration.image),
            "analysis": .init(job.plan.notAnalyzed), "tested": .init(job.plan.notTested),
            "steps": .array(
                job.plan.steps.map { step in
                    [
                        "step": .string(step.step), "name": .string(step.name),
                        "command": .string(step.shownCommand(supervisor: supervisor)),
                        "directory": .string(step.workingDirectory), "network": .string(step.network.rawValue),
                        "timeout": .number(Double(step.timeoutMilliseconds) / 1000),
                        "report": .array(step.report.map { .string($0) }), "required": .bool(step.isRequired),
                    ]
                }),
        ]
    }

    private init(_ archive: PushPlan.Archive) {
        self = [
            "configuration": .string(archive.configuration.description),
            "include": archive.include.map { .array($0.map { .string($0) }) } ?? .null,
            "products": .bool(archive.hasProducts), "source": .bool(archive.hasProducts || archive.hasSource),
        ]
    }

    private init(_ action: PushPlan.Action) {
        var (kind, version, reason): (String, String?, String?) = ("", nil, nil)
        switch action.trigger.action {
        case .run: kind = "run"
        case .publish: kind = "publish"
        case .upload: kind = "upload"
        }
        switch action.prospect {
        case .version(let next): version = next.description
        case .noVersion(let why): reason = "no version: \(why)"
        case .unknown(let source): reason = "the version is known only when it is published: \(source)"
        case nil: break
        }
        self = [
            "name": .string(action.trigger.name.description), "kind": .string(kind),
            "phase": .string(action.trigger.phase.rawValue),
            "when": .array(action.trigger.when.map { .string($0.rawValue) }), "version": .init(version),
            "reason": .init(reason),
        ]
    }

    private init(_ diagnostic: Diagnostic) {
        self = [
            "file": .string(diagnostic.file), "line": .integer(Int64(diagnostic.line)),
            "column": .integer(Int64(diagnostic.column)), "severity": .string(diagnostic.severity.rawValue),
            "message": .string(diagnostic.message),
        ]
    }
}
