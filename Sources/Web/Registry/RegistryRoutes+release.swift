import Basics
import Encodings
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Model
import Storage

extension RegistryRoutes {
    /// Answers 4.2 (metadata) or 4.4 (archive), depending on the path's ending. A version can end in `.zip` or `.json` itself, such as 1.0.0-rc.zip.
    /// The path then means that version, unless the client requests an archive.
    func release(_ call: AuthorizedRequest) async throws -> Response {
        let text = call.text("version")
        let accept = call.request.headers[.accept]
        let hasEnding = text.hasSuffix(".zip") || text.hasSuffix(".json")
        var isWhole = false
        if hasEnding, !RegistryAccept.wantsArchive(accept) { isWhole = try await found(call, text) != nil }
        let isArchive = text.hasSuffix(".zip") && !isWhole
        try RegistryAccept.check(accept, kind: isArchive ? "zip" : "json")
        let record = try await record(call, isWhole ? text : Self.without(isArchive ? ".zip" : ".json", text))
        return isArchive ? try await archive(record, call) : try await metadata(record)
    }

    private func found(_ call: AuthorizedRequest, _ text: String) async throws -> VersionRecord? {
        let package = try Self.package(call, name: call.text("name"))
        guard let version = SemanticVersion(text) else { return nil }
        return try await site.store.version(version, of: package)
    }

    /// Returns a published version.
    /// - Throws: 404 if there is none.
    func record(_ call: AuthorizedRequest, _ text: String) async throws -> VersionRecord {
        guard let record = try await found(call, text) else { throw Self.noRelease }
        return record
    }

    private func metadata(_ record: VersionRecord) async throws -> Response {
        let package = record.registry?.description ?? ""
        let archive = Self.archive(of: record)
        // In whole seconds, because the client cannot read fractions before Swift 6.2.
        let published = (record.publishedAt?.description).map { $0.prefix { $0 != "." && $0 != "Z" } + "Z" }
        var response = Self.json([
            "id": .string(package), "version": .string(record.version.description),
            "resources": .array(
                archive.map {
                    [["name": "source-archive", "type": "application/zip", "checksum": .string($0.sha256)]]
                } ?? []),
            "metadata": [
                "description": .string(
                    "\(package) \(record.version), made of \(record.commit) by \(record.integration)"),
                "repositoryURLs": .array(Self.repositories(of: record).map { .string($0) }),
                "originalPublicationTime": JSONValue(published.map(String.init)),
            ],
            "publishedAt": JSONValue(published.map(String.init)),
        ])
        var offered: [VersionRecord] = []
        if let package = record.registry { offered = Self.offered(try await site.store.outlines(of: package)) }
        let named: [(String, VersionRecord?)] = [
            ("latest-version", offered.first),
            ("successor-version", offered.last { record.version.precedes($0.version) }),
            ("predecessor-version", offered.first { $0.version.precedes(record.version) }),
        ]
        RegistryLink.add(
            named.compactMap { relation, record in
                record.map { RegistryLink(target: address(of: $0), relation: relation) }
            }, to: &response.headers)
        return response
    }

    /// Returns the source archive among a version's files; `nil` if it has none.
    static func archive(of record: VersionRecord) -> Artifact? {
        record.registry.flatMap { package in
            record.files.first { $0.path == "\(package.name)-\(record.version).zip" }
        }
    }

    private func archive(_ record: VersionRecord, _ call: AuthorizedRequest) async throws -> Response {
        guard let archive = Self.archive(of: record) else { throw Self.noRelease }
        var response = try await send(archive, of: record, call)
        if let digest = Hexadecimal.decode(archive.sha256), let name = HTTPField.Name("Digest") {
            response.headers[name] = "sha-256=\(Data(digest).base64EncodedString())"
        }
        return response
    }

    private func send(_ file: Artifact, of record: VersionRecord, _ call: AuthorizedRequest) async throws -> Response {
        try await PublishedFile(
            root: site.configuration.state, path: "files/\(record.product)/\(record.version)/\(file.path)",
            artifact: file, cacheControl: FileServer.forEver, site: site,
            download: .init(product: record.product, version: record.version, path: file.path)
        ).response(to: call)
    }

    // MARK: Manifests

    /// Answers 4.3: sends a package's manifest.
    func manifest(_ call: AuthorizedRequest) async throws -> Response {
        let record = try await record(call, call.text("version"))
        let manifests = Self.manifests(of: record)
        let place = address(of: record) + "/" + ManifestName.usual
        if let text = call.query("swift-version") {
            guard let asked = ManifestName.numbers(text) else {
                throw Problem(400, "`swift-version` is a version such as 5.9")
            }
            // An exact name has priority: a package can have Package@swift-5.swift and Package@swift-5.0.swift.
            let exact = manifests.first { $0.name.description == "Package@swift-\(text).swift" }
            var found = exact ?? manifests.first { $0.name.swift == asked }
            if found == nil {
                // SwiftPM asks for the tools version of the link, which can differ from the one in the name.
                let others = manifests.filter { $0.name.swift != nil }
                let tools = try await toolsVersions(of: others.map(\.file), in: record)
                found = zip(others, tools).first { $0.1.flatMap { ManifestName.numbers($0) } == asked }?.0
            }
            guard let found else {
                var response = Response(status: .seeOther)
                response.headers[.location] = place
                return response
            }
            return try await send(found.file, of: record, call)
        }
        guard let usual = manifests.first(where: { $0.name.swift == nil }) else { throw Self.noRelease }
        var response = try await send(usual.file, of: record, call)
        let others = manifests.filter { $0.name.swift != nil }
        let tools = try await toolsVersions(of: others.map(\.file), in: record)
        // A manifest that is restored is offered again, so the answer must not be cached.
        if tools.contains(nil) { response.headers[.cacheControl] = "no-store" }
        RegistryLink.add(
            zip(others, tools).compactMap { other, tools in
                guard let tools else { return nil }
                let word = other.name.description.dropFirst("Package@swift-".count).dropLast(".swift".count)
                return RegistryLink(
                    target: "\(place)?swift-version=\(word)", relation: "alternate",
                    attributes: ["filename=\"\(other.name)\"", "swift-tools-version=\"\(tools)\""])
            }, to: &response.headers)
        return response
    }

    /// Returns a version's manifests, the default one first.
    private static func manifests(of record: VersionRecord) -> [(name: ManifestName, file: Artifact)] {
        record.files.compactMap { file in ManifestName(file.path).map { ($0, file) } }
            .sorted { $0.name < $1.name }
    }

    /// Reads the tools version that each manifest declares.
    /// - Returns: `nil` for a manifest that cannot be read now, or that is damaged. Damage is recorded.
    private func toolsVersions(of files: [Artifact], in record: VersionRecord) async throws -> [String?] {
        let place = "\(site.configuration.state)/files/\(record.product)/\(record.version)"
        let contents = try await site.files.run { () throws(FileError) -> [[UInt8]?] in
            let directory = try Directory(opening: place, readsSecondNames: true)
            var contents: [[UInt8]?] = []
            for file in files { contents.append(try Self.content(of: file, in: directory)) }
            return contents
        }
        for (file, bytes) in zip(files, contents) where bytes == nil {
            guard site.checks.isDamaged("\(place)/\(file.path)", at: site.clock()) else { continue }
            site.logger.error(
                "a published file is damaged",
                metadata: ["path": "\(place)/\(file.path)", "recorded": "\(file.sha256)"])
        }
        return contents.map { $0.map(ManifestName.toolsVersion) }
    }

    /// Reads a manifest.
    /// - Returns: `nil` if it is not what was published: missing, too large, or other bytes.
    /// - Throws: An error that does not concern the bytes, such as one of the disk or too few descriptors.
    private static func content(of file: Artifact, in directory: Directory) throws(FileError) -> [UInt8]? {
        do throws(FileError) {
            let bytes = try directory.read(file.path, limit: ManifestName.maximumBytes)
            return Digest.sha256(of: bytes) == file.sha256 ? bytes : nil
        } catch {
            guard [.notFound, .tooLarge, .notRegular].contains(error.code) else { throw error }
            return nil
        }
    }
}
