import API
import Foundation
import Model
import Settings

/// Tells the running service, for its audit, that a command changed a secret.
enum SecretNote {
    /// Sends the note by the service's socket. The secret is changed already, so a failure is a remark.
    static func send(_ name: String, _ change: String, overlapEnd: Timestamp? = nil, _ settings: ServiceSettings) async
    {
        do {
            let connection = try ServiceSocket.connect(settings)
            _ = try await connection.post(
                "/api/v1/secrets/\(name)/changed",
                API.SecretChange(change: change, overlapEnds: overlapEnd.map { API.Time($0.description) }))
        } catch {
            Output.remark("martlet: the audit does not have this, because the service could not be asked: \(error)")
        }
    }
}

/// The socket of the service that the settings belong to.
enum ServiceSocket {
    /// Connects by the socket in `MARTLET_URL`, or else by that of the state directory or of the installed unit.
    /// - Throws: `Failure` if there is no such socket.
    static func connect(_ settings: ServiceSettings) throws -> Connection {
        var sockets = [settings.state + "/martlet.socket"]
        if settings.state == ServiceSettings.Defaults.system(processors: 1).state {
            sockets.append(ServerOptions.installedSocket)
        }
        if let named = ProcessInfo.processInfo.environment["MARTLET_URL"], named.hasPrefix("/") { sockets = [named] }
        guard let socket = ServerOptions.firstThere(of: sockets) else {
            throw Failure(.unavailable, "no daemon listens at \(sockets.joined(separator: " or "))")
        }
        return try Connection(socket: socket, token: nil)
    }
}
