import Encodings
import HTTPTypes
import Hummingbird
import Model
import Settings
import Storage

/// `/registry`: a package registry for SwiftPM with the versions that were published under a package's name (SE-0292, SE-0391; version 1 of the
/// "Swift Package Registry Service Specification").
///
/// It only shows files of the file server: a version's archive and manifests are published files like all others. Packages are published by bots
/// alone, so clients cannot upload any (4.6: 405).
struct RegistryRoutes: Sendable {
    let site: Site

    static let root = "/registry"

    var routes: [Route] {
        [
            Route(.get, "/registry/availability", .product, "Package registry: 200 when it answers.") { _ in
                _ = try await site.store.hasTokens()
                return Response(status: .ok)
            }.reaching(.nothing),
            Route(.get, "/registry/identifiers", .product, "Package registry: the packages of a repository; ?url=.") {
                try RegistryAccept.check($0.request.headers[.accept], kind: "json")
                return try await identifiers($0)
            }.described(
                "findPackages", .versions,
                query: [
                    .text(
                        "url", "The repository's address.", example: "https://git.acme.example/kit.git",
                        isRequired: true)
                ], .media("application/json")
            ).costing(.list).reaching(.listing),
            Route(
                .post, "/registry/login", .role(.viewer), acceptsBasic: true,
                "Package registry: 200 for a token, as `Bearer` or as the password of `Basic`."
            ) { _ in Response(status: .ok) }.reaching(.nothing),
            Route(.get, "/registry/{scope}/{name}", .product, "Package registry: a package's releases.") {
                try RegistryAccept.check($0.request.headers[.accept], kind: "json")
                return try await releases($0)
            }.costing(.list),
            Route(
                .get, "/registry/{scope}/{name}/{version}", .product,
                "Package registry: a release; with .zip its source archive (Range, conditional)."
            ) { try await release($0) }.costing(.download),
            Route(
                .get, "/registry/{scope}/{name}/{version}/Package.swift", .product,
                "Package registry: a release's manifest; ?swift-version=."
            ) {
                try RegistryAccept.check($0.request.headers[.accept], kind: "swift")
                return try await manifest($0)
            }.costing(.download),
        ]
    }

    /// Adds the interface's version to every answer below `/registry`, including problems. Without it SwiftPM shows no details (3.3).
    static func mark(_ response: inout Response, path: String) {
        guard path.hasPrefix(root + "/") else { return }
        if let name = HTTPField.Name("Content-Version") { response.headers[name] = "1" }
        if response.status.code >= 400 { response.headers[.contentLanguage] = "en" }
    }

    // MARK: Packages

    /// Returns the package that a path names.
    /// - Parameter name: The package's name from the path, without an extension.
    /// - Throws: 404 for an invalid name.
    static func package(_ call: AuthorizedRequest, name: String) throws -> PackageIdentifier {
        guard let package = PackageIdentifier(scope: call.text("scope"), name: name) else { throw noPackage }
        return package
    }

    static let noPackage = Problem(404, "package not found")
    static let noRelease = Problem(404, "release not found")

    /// Returns the URL of a release, under the name with which it was published.
    func address(of record: VersionRecord) -> String {
        let package = record.registry.map { "\($0.scope)/\($0.name)" } ?? ""
        return "\(site.configuration.url)\(Self.root)/\(package)/\(PercentEncoding.encode(record.version.description))"
    }

    /// Returns the versions that links offer as latest, next and previous: all that are not yanked.
    static func offered(_ versions: [VersionRecord]) -> [VersionRecord] { versions.filter { !$0.isYanked } }

    private func releases(_ call: AuthorizedRequest) async throws -> Response {
        let package = try Self.package(call, name: Self.without(".json", call.text("name")))
        let versions = try await site.store.outlines(of: package)
        guard !versions.isEmpty else { throw Self.noPackage }
        var response = Self.json([
            "releases": .object(
                versions.map { record in
                    var release: [JSONValue.Member] = [.init(key: "url", value: .string(address(of: record)))]
                    if record.isYanked { release.append(.init(key: "problem", value: Self.yanked)) }
                    return .init(key: record.version.description, value: .object(release))
                })
        ])
        var links =
            Self.offered(versions).first.map { [RegistryLink(target: address(of: $0), relation: "latest-version")] }
            ?? []
        if let newest = versions.first {
            links += Self.repositories(of: newest).map { RegistryLink(target: $0, relation: "canonical") }
        }
        RegistryLink.add(links, to: &response.headers)
        return response
    }

    /// The problem of a yanked release (4.1). SwiftPM excludes a release with a problem from resolution.
    private static let yanked: JSONValue = [
        "status": 410, "title": "Gone",
        "detail": "this release was yanked: it is not resolved any more; by its exact version it stays fetchable",
    ]

    /// Returns the URL of the repository that a version was built from, if other machines can reach it. The user in a URL is left out, since it can
    /// be a token.
    static func repositories(of record: VersionRecord) -> [String] {
        [record.repository.flatMap { PublicAddress.of($0) }].compactMap { $0 }.filter(RegistryLink.isTarget)
    }

    // MARK: Repositories

    private func identifiers(_ call: AuthorizedRequest) async throws -> Response {
        guard let url = call.query("url") else { throw Problem(400, "`url` is missing: ?url=REPOSITORY") }
        let asked = RepositoryPlace(url)
        let found = try await site.store.packages().filter { package in
            if let asked, let place = RepositoryPlace(package.repository) { return asked.isSame(as: place) }
            return package.repository == url
        }
        var seen: Set<PackageIdentifier> = []
        let access = try await site.access()
        var visible: [PackageIdentifier] = []
        for package in found.map(\.package) where seen.insert(package).inserted {
            let products = try await site.store.products(of: package)
            if try await site.mayRead(products, call.caller, access) { visible.append(package) }
        }
        guard !visible.isEmpty else { throw Problem(404, "no package is published from this repository") }
        return Self.json(["identifiers": .array(visible.map { .string($0.description) })])
    }

    // MARK: Texts

    static func json(_ value: JSONValue) -> Response {
        .body(Array((value.text + "\n").utf8), type: "application/json")
    }

    static func without(_ ending: String, _ text: String) -> String {
        text.hasSuffix(ending) ? String(text.dropLast(ending.count)) : text
    }
}
