import Foundation
import ServiceSupport

/// Somebody else who uses the API: asks for the list of integrations, over and over, on a thread of its own.
final class Asking: @unchecked Sendable {
    private let socket: String
    private let lock = NSLock()
    private var values: [Double] = []
    private var peak = 0
    private let ending = DispatchSemaphore(value: 0)
    private let done = DispatchSemaphore(value: 0)

    init(socket: String) { self.socket = socket }

    /// How long answers take while nothing else is asked for.
    func figures(seconds: Double) -> Figures {
        let other = Asking(socket: socket).begin(memoryOf: 0)
        _ = other.done.wait(timeout: .now() + seconds)
        return other.end().0
    }

    /// Asks until `end`, with 2 ms between an answer and the next request.
    /// - Parameter pid: Whose memory is looked at between two requests; 0: nobody's.
    func begin(memoryOf pid: pid_t) -> Asking {
        let thread = Thread { [self] in
            let client = ServiceClient(socket: socket)
            repeat {
                // An answer that does not come counts as one that took for ever.
                let value =
                    (try? Moment.milliseconds { _ = try client.get("bots/kit/integrations?limit=20") }) ?? .infinity
                let resident = pid > 0 ? Bench.residentBytes(pid) : 0
                lock.withLock {
                    values.append(value)
                    peak = max(peak, resident)
                }
            } while ending.wait(timeout: .now() + .milliseconds(2)) == .timedOut
            done.signal()
        }
        thread.start()
        return self
    }

    func end() -> (Figures, peak: Int) {
        ending.signal()
        done.wait()
        return lock.withLock { (Figures(values), peak) }
    }
}
