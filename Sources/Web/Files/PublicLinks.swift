import Basics
import Logging
import Model
import ServiceLifecycle
import Storage

/// Keeps a link in `public/` of the state directory for each product that anybody may read: what another web server may serve by itself,
/// without asking, also while the service does not run.
struct PublicLinks: Service {
    let site: Site

    static let directory = "public"

    func run() async throws {
        let changes = site.store.changes()
        await update()
        await cancelWhenGracefulShutdown {
            for await change in changes {
                switch change {
                case .bots, .version: await update()
                default: break
                }
            }
        }
    }

    func update() async {
        do {
            let access = try await site.access()
            let names = Set(try await site.store.products().filter(access.isPublic).map(\.description))
            let state = site.configuration.state
            try await site.files.run { () throws(FileError) in try Self.link(names, in: state) }
        } catch {
            site.logger.error(
                "the links to public products could not be made or taken away",
                metadata: ["directory": "\(site.configuration.state)/\(Self.directory)", "error": "\(error)"])
        }
    }

    private static func link(_ names: Set<String>, in state: String) throws(FileError) {
        let directory = try Directory(opening: state)
        try directory.makeDirectories(Self.directory)
        let there = try directory.entries(Self.directory).filter { $0.kind == .link }.map(\.name)
        for name in there where !names.contains(name) { try directory.remove("\(Self.directory)/\(name)") }
        for name in names.subtracting(there) {
            try directory.makeLink("\(Self.directory)/\(name)", target: Array("../files/\(name)".utf8))
        }
    }
}
