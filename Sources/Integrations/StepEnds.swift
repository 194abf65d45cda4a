import JobProtocol
import Reports

/// How each step ended, and the attempt as a whole.
struct StepEnds {
    var steps: [Int: CommandEnd] = [:]
    var outcome: StatusEvent.Outcome?
    var reason: String?
    var limit: String?

    init(_ events: [StatusEvent]) {
        for event in events {
            switch event {
            case .started: break
            case .ended(let step, _, let exit, let signal, let limit, _):
                steps[step] = CommandEnd(exit: exit.map(Int.init), signal: signal.map(Int.init), limit: limit)
            case .finished(_, let result, let reason, let limit, _):
                (outcome, self.reason, self.limit) = (result, reason, limit)
            }
        }
    }
}
