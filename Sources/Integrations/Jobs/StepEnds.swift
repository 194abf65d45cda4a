import JobProtocol
import Reports

/// The ends of the steps, and of the attempt as a whole.
struct StepEnds {
    var steps: [Int: CommandEnd] = [:]
    var outcome: StatusEvent.Outcome?
    var reason: String?
    var limit: String?
    /// The step in which the job was ended by a user, a newer commit or the machine's stop; `nil` if it was not. That step's result is no
    /// statement about the code.
    var interrupted: Int?

    init(_ events: [StatusEvent]) {
        for event in events {
            switch event {
            case .started: break
            case .ended(let step, _, let exit, let signal, let limit, _):
                steps[step] = CommandEnd(exit: exit.map(Int.init), signal: signal.map(Int.init), limit: limit)
            case .finished(_, let result, let reason, let limit, let step):
                (outcome, self.reason, self.limit) = (result, reason, limit)
                interrupted = result == .canceled || result == .interrupted ? step : nil
            }
        }
    }
}
