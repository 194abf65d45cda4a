import Basics
package import Execution
import Integrations
import JobProtocol
package import Model
package import Storage

extension Bot {
    /// Returns an attempt's directory.
    package func directory(of attempt: AttemptRecord) -> AttemptDirectory {
        AttemptDirectory(
            path: state.attempt(attempt.id.integration, job: attempt.id.job, attempt: attempt.id.attempt))
    }

    /// Returns the whole output of an attempt.
    package func log(of attempt: AttemptRecord) throws -> String {
        String(decoding: try directory(of: attempt).readLog(from: 0, count: 1 << 20), as: UTF8.self)
    }

    /// Returns the whole output of a trigger's script or command.
    package func log(of trigger: TriggerRecord) throws -> String {
        let directory = AttemptDirectory(path: "\(state.path)/\(trigger.log ?? "")")
        return String(decoding: try directory.readLog(from: 0, count: 1 << 20), as: UTF8.self)
    }

    /// Returns how often a supervisor ran a step of an attempt, according to its status file.
    package func starts(of step: JobStep, in attempt: AttemptRecord) throws -> Int {
        let directory = directory(of: attempt)
        let steps = try directory.job().steps
        return try directory.status().count { event in
            if case .started(let index, _) = event { return steps[index].step == step.rawValue }
            return false
        }
    }

    /// Returns the existing work directories of the triggers' jobs of an integration: `TRIGGER/ATTEMPT.work`.
    package func triggerWork(of id: IntegrationID) throws -> [String] {
        let directory = try Directory(opening: state.integration(id))
        return try directory.entries().map(\.name).filter { $0.hasPrefix("_trigger-") }.flatMap { trigger in
            try directory.entries(trigger).map(\.name).filter { $0.hasSuffix(".work") }.map { "\(trigger)/\($0)" }
        }
    }
}
