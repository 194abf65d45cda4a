import API
import Basics
import Execution
import Foundation
import Glibc
import Integrations
import Settings

extension Doctor {
    /// The unit of the service (deploy/martlet.service).
    private static let unitName = "martlet.service"
    /// The socket of the launcher's unit.
    private static let launcherName = "martlet-launcher.socket"

    /// Examines the user and the unit of the service, and takes the unit's environment, such as its PATH, for everything that follows.
    /// - Parameter file: The path of the settings.
    /// - Returns: The unit; `nil` if systemd does not run, or its unit has other settings.
    static func examineUnit(
        _ settings: ServiceSettings, file: String, _ report: inout DoctorReport
    ) async -> SystemdUnit? {
        let unit: SystemdUnit
        do throws(SystemdUnit.Absence) {
            unit = try await SystemdUnit.ask(unitName)
        } catch {
            switch error {
            case .systemd: report.note("unit", "systemd does not run here, or does not answer; no unit was examined")
            case .unit: report.note("unit", "systemd has no \(unitName)", remedy: "`deploy/install` makes it")
            }
            examineUser(settings.user, &report)
            return nil
        }
        guard unit.command.contains(file) else {
            report.note("unit", "\(unitName) does not run with \(file), so it was not examined")
            examineUser(settings.user, &report)
            return nil
        }
        for (name, value) in await SystemdUnit.commonEnvironment().merging(unit.environment, uniquingKeysWith: { $1 })
        where name != "HOME" && name != "USER" && name != "LOGNAME" {
            setenv(name, value, 1)
        }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        if unit.state == "active" {
            report.fine("unit", "\(unitName) is active, with PATH \(path)")
        } else {
            let status = unit.exitStatus.map { ", status \($0)" } ?? ""
            report.problem(
                "unit", "\(unitName) is \(unit.state) (\(unit.result)\(status))",
                remedy: "`journalctl -u martlet -n 50` says why; then `systemctl restart martlet`")
        }
        if unit.isOutdated {
            report.problem(
                "unit", "the file of \(unitName) changed since systemd read it",
                remedy: "`systemctl daemon-reload`, then `systemctl restart martlet`")
        }
        if !unit.isEnabled {
            report.problem(
                "unit", "\(unitName) does not start with the machine", remedy: "`systemctl enable \(unitName)`")
        }
        if let launcher = try? await SystemdUnit.ask(launcherName), launcher.state != "active" {
            report.problem(
                "unit", "\(launcherName) is \(launcher.state), so no job starts",
                remedy: "`systemctl restart \(launcherName)`")
        }
        examineUser(settings.user, &report)
        return unit
    }

    /// Says which user examines, since others have other permissions.
    private static func examineUser(_ wanted: String?, _ report: inout DoctorReport) {
        guard let wanted else { return }
        let own = NSUserName()
        if own == wanted {
            report.fine("user", "examined as \(own), the user of the service")
        } else if getpwnam(wanted) == nil {
            report.problem(
                "user", "the service's user \(wanted) does not exist",
                remedy: "make it (`deploy/install` does), or change `user:`")
        } else {
            report.note(
                "user", "examined as \(own), and the service runs as \(wanted), which may read other files",
                remedy: "run `sudo martlet doctor`")
        }
    }

    /// The running service, as far as it answers.
    struct Daemon {
        /// The connection; `nil` if no daemon answers.
        var connection: Connection?
        /// Why none answers.
        var reason = ""

        /// Asks the service.
        /// - Throws: `Failure` if it does not answer.
        func get<Value: Decodable>(_ path: String, as type: Value.Type) async throws -> Value {
            guard var connection else { throw Failure(.unavailable, reason) }
            connection.deadline = .now + .seconds(10)
            return try await connection.get(path, as: type)
        }
    }

    /// Examines whether the service answers, and with which version. It uses the socket in `MARTLET_URL`, or else that of the state directory or of
    /// the installed unit.
    static func examineDaemon(
        _ settings: ServiceSettings, _ unit: SystemdUnit?, _ report: inout DoctorReport
    ) async -> Daemon {
        var sockets = [StateDirectory(path: settings.state).serviceSocket]
        if settings.state == ServiceSettings.Defaults.system(processors: 1).state {
            sockets.append(ServerOptions.installedSocket)
        }
        if let named = ProcessInfo.processInfo.environment["MARTLET_URL"], named.hasPrefix("/") { sockets = [named] }
        guard let socket = ServerOptions.firstThere(of: sockets) else {
            let reason = "no daemon listens at \(sockets.joined(separator: " or "))"
            if unit?.state == "active" {
                report.problem("daemon", reason, remedy: "`systemctl restart martlet`")
            } else {
                report.note("daemon", reason, remedy: "start it with `systemctl start martlet` or `martlet serve`")
            }
            return Daemon(reason: reason)
        }
        do {
            var daemon = Daemon(connection: try Connection(socket: socket, token: nil))
            let health = try await daemon.get("/health", as: API.Health.self)
            if health.version == Martlet.version {
                report.fine("daemon", "version \(health.version) answers at \(socket)")
            } else {
                report.problem(
                    "daemon", "it has version \(health.version), and this command \(Martlet.version)",
                    remedy: "restart the daemon, or use the command of its version")
            }
            daemon.reason = ""
            return daemon
        } catch {
            report.problem(
                "daemon", "the daemon at \(socket) does not answer: \(error)",
                remedy: "`journalctl -u martlet -n 50`, or the log of `martlet serve`, says why")
            return Daemon(reason: "\(error)")
        }
    }

    /// Examines whether messages reach their destinations. A destination fails if the newest message that was tried there was not delivered.
    static func examineMessages(_ daemon: Daemon, _ report: inout DoctorReport) async {
        guard daemon.connection != nil else { return }
        let messages: [API.OutboxMessage]
        do {
            messages = try await daemon.get("/api/v1/outbox?limit=200", as: API.List<API.OutboxMessage>.self).items
        } catch {
            return report.note("messages", "they were not examined, because the service refused: \(error)")
        }
        var seen: Set<String> = []
        for message in messages where message.tries > 0 && ["sent", "waiting", "given-up"].contains(message.state) {
            guard seen.insert("\(message.kind) \(message.destination)").inserted, message.state != "sent" else {
                continue
            }
            let state = message.state == "given-up" ? "was given up" : "waits"
            report.problem(
                "messages",
                "\(message.kind) \(message.destination): the message about \(message.integration ?? message.bot) \(state)"
                    + (message.note.map { ": \($0)" } ?? ""),
                remedy: message.state == "given-up"
                    ? "remove the cause, then `martlet outbox --retry \(message.id)`"
                    : "remove the cause; it is tried again by itself")
        }
    }
}
