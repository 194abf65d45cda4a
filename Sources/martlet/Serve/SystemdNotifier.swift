import Glibc
import Logging
import Model
import ServiceLifecycle
import Storage

/// Notifies systemd of the daemon's state (sd_notify(3)) with a datagram to `NOTIFY_SOCKET`. Without that variable it does nothing.
struct SystemdNotifier: Sendable {
    private let socketPath: String?
    /// Half of `WATCHDOG_USEC`, as sd_watchdog_enabled(3) recommends; `nil` if there is no watchdog.
    let watchdogInterval: Duration?

    init(environment: [String: String]) {
        socketPath = environment["NOTIFY_SOCKET"]
        watchdogInterval = environment["WATCHDOG_USEC"].flatMap(Int64.init).map { .microseconds($0 / 2) }
    }

    func ready() { send("READY=1") }
    /// States that the settings are being read again, until `ready()`.
    func reloading() {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        send("RELOADING=1\nMONOTONIC_USEC=\(now.tv_sec * 1_000_000 + now.tv_nsec / 1000)")
    }
    func stopping() { send("STOPPING=1\nSTATUS=stopping; jobs go on") }
    func status(_ text: String) { send("STATUS=\(text)") }
    func watchdog() { send("WATCHDOG=1") }

    /// Sends a message. Failures are ignored: systemd then uses its own timeouts.
    private func send(_ text: String) {
        guard let socketPath else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(socketPath.utf8)
        let capacity = MemoryLayout.size(ofValue: address.sun_path)
        guard bytes.count < capacity else { return }
        // The name of an abstract socket is written with @ for its leading zero byte.
        if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let message = Array(text.utf8)
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, message, message.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
    }
}

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
                await report()
                do { try await Task.sleep(for: interval) } catch { return }
            }
        }
        notifier.stopping()
    }

    private func report() async {
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
