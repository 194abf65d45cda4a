import Glibc
import Integrations
import Logging
import ServiceLifecycle
import Settings
import UnixSignals

/// Reads the settings and the bot files again on SIGHUP, which `systemctl reload` sends. It finishes when the service's terminal was closed, for
/// which the kernel sends SIGHUP, too (termios(3)).
struct ReloadService: Service, CustomStringConvertible {
    let description = "reload"
    let location: SettingsLocation
    /// The settings that the service started with.
    let settings: ServiceSettings
    let integrations: IntegrationService
    let audit: SettingsAudit
    let log: LogControl
    let notifier: SystemdNotifier
    let logger: Logger

    func run() async throws {
        guard !Self.isIgnored else { return try await gracefulShutdown() }
        let hadTerminal = Self.hasTerminal
        var current = settings
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            if hadTerminal, !Self.hasTerminal {
                return logger.notice("the terminal was closed; the service ends")
            }
            notifier.reloading()
            current = await reload(from: current)
            notifier.ready()
        }
    }

    /// Reads the settings and applies what can change.
    /// - Returns: The settings that apply from now on. Keys that need a restart have their new values, so that each is named once.
    private func reload(from old: ServiceSettings) async -> ServiceSettings {
        var (new, isRead, areBotsRead) = (old, true, true)
        do {
            new = try location.read()
        } catch {
            isRead = false
            for line in "\(error)".split(separator: "\n") {
                logger.error(
                    "the settings cannot be read again; those from before stay", metadata: ["error": "\(line)"])
            }
        }
        let changed = SettingsChange.keys(from: old, to: new)
        let (applied, waiting) = (
            changed.filter(SettingsChange.applied.contains), changed.filter { !SettingsChange.applied.contains($0) }
        )
        do {
            try await integrations.reload(new)
        } catch {
            areBotsRead = false
            logger.error("the bot files could not be read again", metadata: ["error": "\(error)"])
        }
        let words: Logger.Metadata = [
            "applied": "\(applied.isEmpty ? "nothing changed" : applied.joined(separator: ", "))"
        ]
        switch (isRead, areBotsRead) {
        case (true, true): logger.notice("settings and bot files were read again", metadata: words)
        case (true, false): logger.notice("settings were read again", metadata: words)
        case (false, true): logger.notice("bot files were read again, with the settings from before")
        case (false, false): break
        }
        log.set(new.log)
        if isRead { await audit.record(changed: changed) }
        if !waiting.isEmpty {
            logger.warning(
                "some changed settings need a restart: systemctl restart martlet",
                metadata: ["keys": "\(waiting.joined(separator: ", "))"])
        }
        return new
    }

    /// Whether the service was started to ignore SIGHUP (nohup(1)).
    private static var isIgnored: Bool {
        var action = sigaction()
        sigaction(SIGHUP, nil, &action)
        // SIG_IGN is the address 1 (signal.h).
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }

    /// Whether the process has a controlling terminal (tty(4)).
    private static var hasTerminal: Bool {
        let descriptor = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }
}
