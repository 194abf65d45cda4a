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
            sockets.append("/run/martlet/martlet.socket")
        }
        if let named = ProcessInfo.processInfo.environment["MARTLET_URL"], named.hasPrefix("/") {
            sockets = [named]
        }
        guard let socket = sockets.first(where: FileManager.default.fileExists) else {
            throw Failure(.unavailable, "nothing listens at \(sockets.joined(separator: " or "))")
        }
        return try await Connection(socket: socket, token: nil).get(
            "/api/v1/files/damaged", as: DamagedFiles.self)
    }

    /// - Parameter state: Where the files lie beneath.
    func sentence(of item: Item, state: String) -> String {
        Output.visible(
            "\(item.product) \(item.version): \(item.file) is not what was published (seen \(item.since)) and not served; "
                + "restore \(state)/files/\(item.product)/\(item.version)/\(item.file) from a backup; "
                + "manifest.json beside it has its SHA-256")
    }
}
