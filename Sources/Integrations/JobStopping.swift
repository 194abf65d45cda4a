import Basics
import Execution
import Logging

/// Asks a job that is followed to stop, and asks again where that could not be written, as on a full disk: else it ran to its time-out.
struct JobStopping: Sendable {
    private let launcher: JobLauncher
    private let directory: AttemptDirectory
    private let failures = Wakeup()
    private let again: Task<Void, Never>

    /// - Parameter cancellation: What it says at each try is what is asked for.
    init(_ directory: AttemptDirectory, _ launcher: JobLauncher, _ cancellation: Cancellation) {
        self.launcher = launcher
        self.directory = directory
        let failures = self.failures
        again = Task {
            for await _ in failures.rings {
                var backoff = Backoff(first: .seconds(1), limit: .seconds(30))
                var isAsked = false
                while !isAsked {
                    let pause = backoff.next()
                    guard (try? await launcher.timer.sleep(for: pause)) != nil, !Task.isCancelled else { return }
                    guard let wish = await cancellation.requested else { break }
                    isAsked = await Self.ask(directory, launcher, wish)
                }
            }
        }
    }

    /// Asks once; what fails is tried again until `end`, and nobody waits for that.
    func ask(_ wish: Cancellation.Wish) async {
        if await !Self.ask(directory, launcher, wish) { failures.ring() }
    }

    /// The job is followed no more.
    func end() {
        failures.finish()
        again.cancel()
    }

    private static func ask(
        _ directory: AttemptDirectory, _ launcher: JobLauncher, _ wish: Cancellation.Wish
    ) async -> Bool {
        do {
            try await launcher.executor.cancel(directory, reason: wish.reason, grace: wish.grace)
            return true
        } catch {
            launcher.logger.warning(
                "a job could not be asked to stop; it is tried again",
                metadata: ["attempt": "\(directory.path)", "error": "\(error)"])
            return false
        }
    }
}
