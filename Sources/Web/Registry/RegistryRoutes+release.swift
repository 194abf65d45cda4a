import Basics
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Model
import Storage

extension RegistryRoutes {
    /// 4.2 and 4.4: which of the two, the path's end says. A version can end in `.zip` or `.json` itself, as 1.0.0-rc.zip does: it is that
    /// version then, unless an archive is asked for.
    func release(_ call: Call) async throws -> Response {
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

    private func found(_ call: Call, _ text: String) async throws -> VersionRecord? {
        let package = try Self.package(call, name: call.text("name"))
        guard let version = SemanticVersion(text) else { return nil }
        return try await site.store.version(version, of: package)
    }

    /// - Throws: 404.
    func record(_ call: Call, _ text: String) async throws -> VersionRecord {
        guard let record = try await found(call, text) else { throw Self.noRelease }
        return record
    }

    private func metadata(_ record: VersionRecord) async throws -> Response {
        let package = record.registry?.description ?? ""
        let archive = Self.archive(of: record)
        // In whole seconds: before Swift 6.2 the client reads no others.
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

    /// The source archive among a version's files.
    static func archive(of record: VersionRecord) -> Artifact? {
        record.registry.flatMap { package in
            record.files.first { $0.path == "\(package.name)-\(record.version).zip" }
        }
    }

    private func archive(_ record: VersionRecord, _ call: Call) async throws -> Response {
        guard let archive = Self.archive(of: record) else { throw Self.noRelease }
        var response = try await send(archive, of: record, call)
        if let digest = Hexadecimal.decode(archive.sha256), let name = HTTPField.Name("Digest") {
            response.headers[name] = "sha-256=\(Data(digest).base64EncodedString())"
        }
        return response
    }

    private func send(_ file: Artifact, of record: VersionRecord, _ call: Call) async throws -> Response {
        try await PublishedFile(
            root: site.configuration.state, path: "files/\(record.product)/\(record.version)/\(file.path)",
            artifact: file, cacheControl: FileServer.forEver, site: site,
            download: .init(product: record.product, version: record.version, path: file.path)
        ).response(to: call)
    }

    // MARK: Manifests

    /// 4.3
    func manifest(_ call: Call) async throws -> Response {
        let record = try await record(call, call.text("version"))
        let manifests = Self.manifests(of: record)
        let place = address(of: record) + "/" + ManifestName.usual
        if let text = call.query("swift-version") {
            guard let asked = ManifestName.numbers(text) else {
                throw Problem(400, "`swift-version` is a version such as 5.9")
            }
            // The very name first: a package can have Package@swift-5.swift and Package@swift-5.0.swift.
            let exact = manifests.first { $0.name.description == "Package@swift-\(text).swift" }
            var found = exact ?? manifests.first { $0.name.swift == asked }
            if found == nil {
                // SwiftPM asks by the tools version that the link says, which can be another than the name's.
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
        // One that is restored is offered again.
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

    /// A version's manifests, the usual one first.
    private static func manifests(of record: VersionRecord) -> [(name: ManifestName, file: Artifact)] {
        record.files.compactMap { file in ManifestName(file.path).map { ($0, file) } }
            .sorted { $0.name < $1.name }
    }

    /// What each says itself; nothing of one that is not what was published, which is noted as damaged, or that cannot be read just now.
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

    /// - Returns: Nothing where it is not what was published: gone, too large, or other bytes.
    /// - Throws: An error of the disk, or a want of descriptors, which says nothing of the bytes.
    private static func content(of file: Artifact, in directory: Directory) throws(FileError) -> [UInt8]? {
        do throws(FileError) {
            let bytes = try directory.read(file.path, limit: ManifestName.maximumBytes)
            return BearerToken.digest(of: bytes) == file.sha256 ? bytes : nil
        } catch {
            guard [.notFound, .tooLarge, .notRegular].contains(error.code) else { throw error }
            return nil
        }
    }
}
