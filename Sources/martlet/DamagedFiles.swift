import Archives
import Foundation
import Integrations
import Settings

/// What the running service knows of published files that are not what was published any more: it alone reads them again and again.
struct DamagedFiles: Decodable {
    struct Item: Decodable {
        var product: String
        var version: String
        var file: String
        var since: String

        /// What is wrong with it, and what to do.
        /// - Parameter state: The state directory, beneath which published files lie.
        func sentence(state: String) -> String {
            // These are judged by the others.
            let isDescription = VersionCheck.descriptions.contains(file)
            return Output.visible(
                "\(product) \(version): \(file) is not what was published (seen \(since)) and not served; "
                    + "restore \(state)/files/\(product)/\(version)/\(file) from a backup"
                    + (isDescription ? "" : "; manifest.json beside it has its SHA-256"))
        }
    }

    /// When all had been read the last time; nothing: not since the service began.
    var looked: String?
    var items: [Item]

    /// Asks the service of these settings: at the socket that `MARTLET_URL` names, else that of the state directory, else the
    /// installed unit's.
    /// - Throws: `Failure` when it does not answer.
    static func ask(_ settings: ServiceSettings) async throws -> DamagedFiles {
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
            "/api/v1/files/damaged", as: DamagedFiles.self)
    }
}
