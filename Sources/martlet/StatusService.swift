import Logging
import ServiceLifecycle
import Storage

/// Keeps systemd informed: the status line, and the watchdog as long as the database answers.
struct StatusService: Service {
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
            let bots = try await store.bots().count { !$0.isRetired }
            let (running, queued) = (try await store.running().count, try await store.queued().count)
            notifier.status("\(bots) bot\(bots == 1 ? "" : "s"), \(running) running, \(queued) queued")
            notifier.watchdog()
        } catch {
            // Without a watchdog message systemd restarts the daemon, which is what a dead database needs.
            logger.error("the database does not answer", metadata: ["error": "\(error)"])
        }
    }
}
