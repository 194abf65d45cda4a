import API
import Basics
import Encodings
import Hummingbird
import Model
import Releases
import Storage

/// `/files/`: serves every published version to users, curl and caches.
///
/// The answer at a version's own path never changes, so it may be cached for a year. `latest`, `latest-pre` and ranges (`~1.4`, `^1`) redirect with
/// 302 to the matching version. A download then has its exact version in its URL, and no cache keeps the wrong version under that URL. Redirects
/// leave yanked versions out.
struct FileServer: Sendable {
    let site: Site
    let pages: Pages

    static let forEver = "public, max-age=31536000, immutable"

    var routes: [Route] {
        [
            Route(.get, "/files", .product, "To /files/.") { _ in .found("/files/") }.reaching(.nothing),
            Route(.get, "/files/", .product, "All products; JSON by Accept.") { try await products($0) }
                .reaching(.listing),
            Route(
                .get, "/files/ALLOWED_SIGNERS", .product,
                "Whose keys versions are signed with, for ssh-keygen -Y verify."
            ) {
                try await signers($0)
            }.costing(.download).reaching(.nothing),
            Route(.get, "/files/{product}", .product, "To its directory.") {
                .found("/files/\(try $0.name("product"))/")
            },
            Route(.get, "/files/{product}/", .product, "A product's versions; JSON by Accept.") {
                try await versions($0)
            },
            Route(.get, "/files/{product}/{version}", .product, "To its directory.") { call in
                let (record, _) = try await version(call)
                return .found(Self.root(record))
            },
            Route(.get, "/files/{product}/{version}/", .product, "A version's files; JSON by Accept.") {
                try await files($0)
            },
            Route(
                .get, "/files/{product}/{version}/{file...}", .product,
                "A file (Range, conditional); 302 for latest, latest-pre, ~1.4, ^1."
            ) { try await file($0) }.costing(.download),
        ].costing(.page)
    }

    static func root(_ record: VersionRecord) -> String {
        "/files/\(record.product)/\(PercentEncoding.encode(record.version.description))/"
    }

    // MARK: Files

    private func file(_ call: AuthorizedRequest) async throws -> Response {
        let (record, isExact) = try await version(call)
        let path = call.text("file")
        guard isExact else {
            let name = try await name(path, in: record)
            return .found(Self.root(record) + PercentEncoding.encode(path: name))
        }
        let place = "\(record.product)/\(record.version)/"
        if VersionCheck.descriptions.contains(path) { return try await description(path, of: record, call) }
        guard let artifact = record.files.first(where: { $0.path == path }) else { throw Problem.notFound }
        return try await PublishedFile(
            root: site.configuration.state, path: "files/" + place + path, artifact: artifact,
            cacheControl: Self.forEver, site: site,
            download: .init(product: record.product, version: record.version, path: path), isKept: true
        ).response(to: call)
    }

    /// Returns the name of a requested file in the version that `latest` or a range selects. Archives have the version in their names, so
    /// `latest/kit-latest-source.tar.gz`, or a name copied from another version, selects this version's file.
    /// - Throws: 404 for a file that the version does not have, with a list of the files that it has.
    private func name(_ asked: String, in outline: VersionRecord) async throws -> String {
        if VersionCheck.descriptions.contains(asked) { return asked }
        guard let record = try await site.store.version(outline.version, of: outline.product) else { return asked }
        let paths = record.files.map(\.path)
        if let path = paths.first(where: { $0 == asked || Self.isMeant($0, by: asked, of: record) }) { return path }
        let list = paths.prefix(20).joined(separator: ", ") + (paths.count > 20 ? ", …" : "")
        throw Problem(404, "\(record.product) \(record.version) has no file \(asked); it has \(list).")
    }

    /// Returns whether two names differ only in the version within them.
    private static func isMeant(_ path: String, by asked: String, of record: VersionRecord) -> Bool {
        let product = "\(record.product)-"
        let named = "\(product)\(record.version)"
        guard path.hasPrefix(named + "-"), asked.hasPrefix(product) else { return false }
        let after = String(path.dropFirst(named.count))
        guard asked.utf8.count > product.utf8.count + after.utf8.count, asked.hasSuffix(after) else { return false }
        return VersionRange(String(asked.dropFirst(product.count).dropLast(after.count))) != nil
    }

    /// Description files and signing keys are cached only for a short time: a file that is absent today may be restored from a backup.
    private static let forAMinute = "public, max-age=60"

    /// Sends one of a version's description files, if it is still the published one.
    private func description(_ name: String, of record: VersionRecord, _ call: AuthorizedRequest) async throws
        -> Response
    {
        let state = site.configuration.state
        guard let check = try await site.descriptions.check(of: record, beneath: state) else { throw Problem.notFound }
        let path = "files/\(record.product)/\(record.version)/\(name)"
        if let what = check.damaged[name] {
            let place = "\(state)/\(path)"
            site.checks.isDamaged(place, at: site.clock())
            guard what == .missing else { throw PublishedFile.Rotten(path: place, what: "\(what)") }
        }
        guard let artifact = check.whole[name] else { throw Problem.notFound }
        return try await PublishedFile(
            root: state, path: path, artifact: artifact, cacheControl: Self.forAMinute, site: site
        ).response(to: call)
    }

    /// Sends the file of keys with which versions are signed. Operators change it, so no digest of it is recorded.
    private func signers(_ call: AuthorizedRequest) async throws -> Response {
        let state = site.configuration.state
        let path = "files/" + AllowedSigners.fileName
        let read = await site.files.run { Result { () throws(FileError) in try Self.read(path, beneath: state) } }
        if case .failure(let error) = read, error.code == .notFound { throw Problem.notFound }
        let bytes = try read.get()
        let artifact = Artifact(
            configuration: nil, path: AllowedSigners.fileName, size: ByteCount(Int64(bytes.count)),
            sha256: Digest.sha256(of: bytes))
        return try await PublishedFile(
            root: state, path: path, artifact: artifact, cacheControl: Self.forAMinute, site: site
        ).response(to: call)
    }

    /// Reads a small file. Blocks.
    private static func read(_ path: String, beneath state: String) throws(FileError) -> [UInt8] {
        try Directory(opening: state, readsSecondNames: true).read(path, limit: AllowedSigners.maximumSize)
    }

    // MARK: Versions

    /// Returns the version that the path selects. A version that was selected by a range has no list of files.
    /// - Throws: 404 for a version or range that no published version matches.
    private func version(_ call: AuthorizedRequest) async throws -> (VersionRecord, isExact: Bool) {
        guard let range = VersionRange(call.text("version")) else { throw Problem.notFound }
        let product = try call.name("product")
        if case .exactly(let version) = range {
            let record = try await site.store.version(version, of: product)
            guard let record, record.state == .published else { throw Problem.notFound }
            return (record, true)
        }
        let offered = try await site.store.outlines(of: product).filter { !$0.isYanked }
        guard let version = range.highest(of: offered.map(\.version)),
            let record = offered.first(where: { $0.version == version })
        else { throw Problem(404, "No published version fits \(call.text("version")).") }
        return (record, false)
    }

    // MARK: Directories

    private func wantsJSON(_ call: AuthorizedRequest) -> Bool {
        let accept = call.request.headers[.accept] ?? ""
        return accept.contains("application/json") && !accept.contains("text/html")
    }

    private func products(_ call: AuthorizedRequest) async throws -> Response {
        let products = try await site.products(for: call.caller)
        if wantsJSON(call) {
            return try .json(
                API.List(
                    products.map {
                        API.ProductFolder(product: $0.description, url: "\(site.configuration.base)/files/\($0)/")
                    }))
        }
        return try await listing(
            "Files", crumbs: [],
            products.map { ["name": .text("\($0)/"), "href": .text("/files/\($0)/"), "size": "", "text": ""] })
    }

    private func versions(_ call: AuthorizedRequest) async throws -> Response {
        let product = try call.name("product")
        let versions = try await site.store.outlines(of: product)
        guard !versions.isEmpty else { throw Problem.notFound }
        if wantsJSON(call) { return try .json(await site.page(of: versions, product, call)) }
        return try await listing(
            product.description, crumbs: [("files", "/files/")], detail: "Published",
            versions.map { record in
                [
                    "name": .text("\(record.version)/"), "href": .text(Self.root(record)), "size": "",
                    "text": .text(record.publishedAt.map(PageText.time) ?? ""), "isYanked": .flag(record.isYanked),
                ]
            })
    }

    private func files(_ call: AuthorizedRequest) async throws -> Response {
        let (record, isExact) = try await version(call)
        guard isExact else { return .found(Self.root(record)) }
        if wantsJSON(call) { return try await .json(record, site) }
        let descriptions: [ViewObject] = try await names(of: record).filter(VersionCheck.descriptions.contains).map {
            ["name": .text($0), "href": .text(Self.root(record) + $0), "size": "", "text": "", "isYanked": false]
        }
        let product = record.product.description
        return try await listing(
            "\(product) \(record.version)", crumbs: [("files", "/files/"), (product, "/files/\(product)/")],
            detail: "SHA-256",
            record.files.map { file in
                [
                    "name": .text(file.path),
                    "href": .text(Self.root(record) + PercentEncoding.encode(path: file.path)),
                    "size": .text(file.size), "text": .text(file.sha256), "isYanked": false,
                ]
            } + descriptions)
    }

    /// Returns the names in a version's directory; empty if the directory does not exist.
    private func names(of record: VersionRecord) async throws -> [String] {
        let (state, path) = (site.configuration.state, "files/\(record.product)/\(record.version)")
        return try await site.files.run { () throws(FileError) in
            do throws(FileError) {
                return try Directory(opening: state).entries(path).map(\.name)
            } catch  where error.code == .notFound {
                return []
            }
        }
    }

    private func listing(
        _ heading: String, crumbs: [(String, String)], detail: String = "", _ entries: [ViewObject]
    ) async throws -> Response {
        try await pages.page(
            "files", title: heading, section: "products",
            [
                "heading": .text(heading), "detail": .text(detail), "entries": .list(entries),
                "crumbs": .list(crumbs.map { ["text": .text($0.0), "href": .text($0.1)] }),
            ])
    }
}
