import Logging
import Model
import ServiceLifecycle
import Storage

/// Keeps systemd informed: the status line, and the watchdog as long as the database answers.
struct StatusService: Service, CustomStringConvertible {
    let description = "status for systemd"
    let store: Store
    let notifier: SystemdNotifier
    let logger: Logger

    func run() async throws {
        let interval = min(notifier.watchdogInterval ?? .seconds(5), .seconds(5))
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await tell()
                do { try await Task.sleep(for: interval) } catch { return }
            }
        }
        notifier.stopping()
    }

    private func tell() async {
        do {
            let counts = try await store.openCounts()
            notifier.status(
                "\(counts.bots.counting("bot")), \(counts.running) running, \(counts.queued) queued")
            notifier.watchdog()
        } catch {
            // Without a watchdog message systemd restarts the daemon, which is what a dead database needs.
            logger.error("the database does not answer", metadata: ["error": "\(error)"])
        }
    }
}
