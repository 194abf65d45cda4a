import Logging
import Model
import ServiceLifecycle
import Storage

/// Sends systemd the status line, and the watchdog message as long as the database answers.
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
            // Without a watchdog message systemd restarts the daemon, which is the remedy for an unresponsive database.
            logger.error("the database does not answer", metadata: ["error": "\(error)"])
        }
    }
}
