import Foundation
import ServiceSupport

/// Somebody else who uses the API: asks for the list of integrations, over and over, on a thread of its own.
final class Asking: @unchecked Sendable {
    private let socket: String
    private let lock = NSLock()
    private var isEnding = false
    private var values: [Double] = []
    private var peak = 0
    private let done = DispatchSemaphore(value: 0)

    init(socket: String) { self.socket = socket }

    /// How long answers take while nothing else is asked for.
    func figures(seconds: Double) -> Figures {
        let other = Asking(socket: socket).begin(memoryOf: 0)
        Thread.sleep(forTimeInterval: seconds)
        return other.end().0
    }

    /// - Parameter pid: Whose memory is looked at between two requests; 0: nobody's.
    func begin(memoryOf pid: pid_t) -> Asking {
        let thread = Thread { [self] in
            let client = ServiceClient(socket: socket)
            while !(lock.withLock { isEnding }) {
                // An answer that does not come counts as one that took for ever.
                let value =
                    (try? Moment.milliseconds { _ = try client.get("bots/kit/integrations?limit=20") }) ?? .infinity
                let resident = pid > 0 ? Bench.residentBytes(pid) : 0
                lock.withLock {
                    values.append(value)
                    peak = max(peak, resident)
                }
                Thread.sleep(forTimeInterval: 0.002)
            }
            done.signal()
        }
        thread.start()
        return self
    }

    func end() -> (Figures, peak: Int) {
        lock.withLock { isEnding = true }
        done.wait()
        return lock.withLock { (Figures(values), peak) }
    }
}
