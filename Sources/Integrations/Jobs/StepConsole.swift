import JobProtocol
import Model
import Reports

extension StepSubject {
    /// Determines what the output of a step is searched for.
    init(_ step: JobDescription.Step, kind: JobStep) {
        self = []
        // Such a step is a default command with a script.
        if step.arguments.count > 3, step.arguments[2].hasPrefix(ProjectProfile.Command.prelude) { insert(.words) }
        switch kind {
        case .analyzing:
            if JobPlanner.isClangStep(step) { insert(.lines) }
            if step.report.isEmpty { insert(.analysis) }
        case .building: insert(.build)
        case .testing where step.name == JobPlanner.listStep: formUnion([.lines, .testList])
        case .testing: insert(.tests)
        case .archiving, .checkout, .processing: break
        }
    }
}

extension ConsoleContent {
    /// The missing program that kept the service's own command from starting; `nil` if it started.
    func missingProgram(_ step: JobDescription.Step, _ end: CommandEnd) -> String? {
        guard end.exit == 127 else { return nil }
        if let missing { return missing }
        // The command was started without a shell, such as `swift` or `make`. So the status is not that of a command within a script.
        guard let program = step.arguments.first, !program.contains("/") else { return nil }
        return program
    }
}
