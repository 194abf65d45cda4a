import Dispatch
import Glibc

/// Does something before SIGINT or SIGTERM ends the program.
final class LastWish {
    private let sources: [any DispatchSourceSignal]

    init(_ body: @escaping @Sendable () -> Void) {
        let queue = DispatchQueue(label: "last-wish")
        sources = [SIGINT, SIGTERM].map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                body()
                // As shells have it.
                _exit(128 + number)
            }
            source.resume()
            return source
        }
    }

    /// Nothing is to be done any more.
    func end() {
        for source in sources { source.cancel() }
    }
}
