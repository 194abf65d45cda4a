import JobProtocol
import Reports

/// How each step ended, and the attempt as a whole.
struct StepEnds {
    var steps: [Int: CommandEnd] = [:]
    var outcome: StatusEvent.Outcome?
    var reason: String?
    var limit: String?
    /// The one in which a person's, a newer commit's or the machine's wish ended the job: what it came to says nothing of the code.
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
