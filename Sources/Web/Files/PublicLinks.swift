import Basics
import Logging
import Model
import ServiceLifecycle
import Storage

/// Keeps a link in `public/` of the state directory for each public product. Another web server can serve these products directly, even while the
/// service does not run. The group of that server may read only the directories of these products.
struct PublicLinks: Service, CustomStringConvertible {
    let description = "links to public products"
    let site: Site
    /// The delay between a failure and the next attempt. Until then the other server still serves a product that was closed.
    var pause = Duration.seconds(60)

    private enum Request { case change, timer }

    static let directory = "public"

    func run() async throws {
        let changes = site.store.changes()
        let (requests, request) = AsyncStream.makeStream(of: Request.self)
        request.yield(.change)
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await change in changes where change.isOfPublishing { request.yield(.change) }
                }
                await follow(requests, request, &group)
                group.cancelAll()
            }
        }
    }

    private func follow(
        _ requests: AsyncStream<Request>, _ request: AsyncStream<Request>.Continuation, _ group: inout TaskGroup<Void>
    ) async {
        // At most one timer runs, however often an update fails.
        var isTimed = false
        var trouble: String?
        for await requested in requests {
            if requested == .timer { isTimed = false }
            let found = await update()
            if let found, found != trouble {
                site.logger.error(
                    "the links to public products could not be made or taken away; it is tried again",
                    metadata: ["directory": "\(site.configuration.state)/\(Self.directory)", "error": "\(found)"])
            }
            trouble = found
            guard found != nil, !isTimed else { continue }
            isTimed = true
            group.addTask { [pause] in
                // If it is canceled, the service is stopping.
                try? await Task.sleep(for: pause)
                request.yield(.timer)
            }
        }
    }

    /// Updates the links and permissions. It continues after a failure.
    /// - Returns: The first failure; `nil` if all succeeded.
    func update() async -> String? {
        do {
            let access = try await site.access()
            let names = Set(try await site.store.products().filter(access.isPublic).map(\.description))
            let state = site.configuration.state
            try await site.files.run { () throws(FileError) in try Self.link(names, in: state) }
            return nil
        } catch {
            return "\(error)"
        }
    }

    private static func link(_ names: Set<String>, in state: String) throws(FileError) {
        let directory = try Directory(opening: state)
        try directory.makeDirectories(Self.directory)
        let there = try directory.entries(Self.directory).filter { $0.kind == .link }.map(\.name)
        var failure: FileError?
        for name in there where !names.contains(name) {
            do throws(FileError) { try directory.remove("\(Self.directory)/\(name)") } catch {
                failure = failure ?? error
            }
        }
        for name in names.subtracting(there).sorted() {
            do throws(FileError) {
                try directory.makeLink("\(Self.directory)/\(name)", target: Array("../files/\(name)".utf8))
            } catch {
                failure = failure ?? error
            }
        }
        do throws(FileError) { try open(names, in: state) } catch { failure = failure ?? error }
        if let failure { throw failure }
    }

    /// Lets the service's group read the directories of these products and no others.
    private static func open(_ names: Set<String>, in state: String) throws(FileError) {
        let files: Directory
        do throws(FileError) { files = try Directory(opening: "\(state)/files") } catch  where error.code == .notFound {
            return
        }
        var failure: FileError?
        for entry in try files.entries() where entry.kind == .directory {
            do throws(FileError) {
                guard let mode = try files.status(entry.bytes)?.mode else { continue }
                let wanted = names.contains(entry.name) ? mode | 0o050 : mode & 0o7700
                if wanted != mode { try files.setMode(wanted, ofDirectory: entry.bytes) }
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }
}
