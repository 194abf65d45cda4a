import API
import Execution
import Foundation
import Integrations
import Releases
import Settings

extension API.DamagedFiles.Item {
    /// Describes the damage and how to repair it.
    /// - Parameter state: The path of the state directory, which contains the published files.
    func sentence(state: String) -> String {
        // Description files have no record of their own: they are verified against the others.
        let isDescription = VersionCheck.descriptions.contains(file)
        return Output.visible(
            "\(product) \(version): \(file) is not what was published (seen \(since)) and not served; "
                + "restore \(state)/files/\(product)/\(version)/\(file) from a backup"
                + (isDescription ? "" : "; manifest.json beside it has its SHA-256"))
    }
}

extension API.DamagedFiles {
    /// Asks the running service, since only it reads all published files regularly. It uses the socket in `MARTLET_URL`, or else that of the state
    /// directory or of the installed unit.
    /// - Throws: `Failure` if the service does not answer.
    static func ask(_ settings: ServiceSettings) async throws -> API.DamagedFiles {
        var sockets = [StateDirectory(path: settings.state).serviceSocket]
        if settings.state == ServiceSettings.Defaults.system(processors: 1).state {
            sockets.append(ServerOptions.installedSocket)
        }
        if let named = ProcessInfo.processInfo.environment["MARTLET_URL"], named.hasPrefix("/") {
            sockets = [named]
        }
        guard let socket = ServerOptions.firstThere(of: sockets) else {
            throw Failure(.unavailable, "nothing listens at \(sockets.joined(separator: " or "))")
        }
        return try await Connection(socket: socket, token: nil).get(
            "/api/v1/files/damaged", as: API.DamagedFiles.self)
    }
}
