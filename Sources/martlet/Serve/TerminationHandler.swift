import Dispatch
import Glibc

/// Runs a closure before SIGINT or SIGTERM ends the program.
final class TerminationHandler {
    private let sources: [any DispatchSourceSignal]

    init(_ body: @escaping @Sendable () -> Void) {
        let queue = DispatchQueue(label: "last-wish")
        sources = [SIGINT, SIGTERM].map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                body()
                // The exit status is that of shells.
                _exit(128 + number)
            }
            source.resume()
            return source
        }
    }

    /// Stops handling the signals.
    func end() {
        for source in sources { source.cancel() }
    }
}
