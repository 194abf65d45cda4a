package import Basics
package import Execution
import Logging

/// Asks a followed job to stop. If the request cannot be written, as on a full disk, asks again: otherwise the job would run until its time-out.
package struct JobStopping: Sendable {
    private let launcher: JobLauncher
    private let directory: AttemptDirectory
    private let failures = Signal()
    private let again: Task<Void, Never>

    /// - Parameter cancellation: Each try sends its current request.
    package init(_ directory: AttemptDirectory, _ launcher: JobLauncher, _ cancellation: Cancellation) {
        self.launcher = launcher
        self.directory = directory
        let failures = self.failures
        again = Task {
            for await _ in failures.notifications {
                var backoff = Backoff(first: .seconds(1), limit: .seconds(30))
                var isAsked = false
                while !isAsked {
                    let pause = backoff.next()
                    guard (try? await launcher.timer.sleep(for: pause)) != nil, !Task.isCancelled else { return }
                    guard let cancelRequest = await cancellation.requested else { break }
                    isAsked = await Self.ask(directory, launcher, cancelRequest)
                }
            }
        }
    }

    /// Asks once, and returns. A failed request is tried again in the background until `end`.
    package func ask(_ cancelRequest: Cancellation.Request) async {
        if await !Self.ask(directory, launcher, cancelRequest) { failures.notify() }
    }

    /// Stops the tries, because the job is no longer followed.
    package func end() {
        failures.finish()
        again.cancel()
    }

    private static func ask(
        _ directory: AttemptDirectory, _ launcher: JobLauncher, _ cancelRequest: Cancellation.Request
    ) async -> Bool {
        do {
            try await launcher.executor.cancel(directory, reason: cancelRequest.reason, grace: cancelRequest.grace)
            return true
        } catch {
            launcher.logger.warning(
                "a job could not be asked to stop; Martlet tries again",
                metadata: ["attempt": "\(directory.path)", "error": "\(error)"])
            return false
        }
    }
}
