import Basics
import Encodings
import Foundation
import Hummingbird
import Model
import Releases
import Storage

/// `/products/{product}/{version}`: the page of one version, for its users.
extension Pages {
    func version(_ call: AuthorizedRequest) async throws -> Response {
        let product = try call.name("product")
        let asked = call.text("version")
        let versions = try await site.store.outlines(of: product)
        let offered = versions.filter { !$0.isYanked }
        guard let range = VersionRange(asked) else { throw await site.nothing(asked, of: product, among: versions) }
        guard case .exactly(let version) = range else {
            guard let version = range.highest(of: offered.map(\.version)),
                let record = offered.first(where: { $0.version == version })
            else { throw await site.nothing(asked, of: product, among: versions) }
            return .found(Self.place(of: record))
        }
        guard let record = try await site.store.version(version, of: product), record.state == .published else {
            throw await site.nothing(asked, of: product, among: versions)
        }
        let disk = await site.seals.run { [state = site.configuration.state, seals = site.seals] in
            VersionOnDisk(record, state: state, seals: seals)
        }
        let latest = VersionRange.latest.highest(of: offered.map(\.version))
        let downloads = try await site.downloads.counts(of: product)
        var view = facts(of: record, disk)
        view["downloads"] = .text(downloads.of(record))
        view["damaged"] = .list(damaged(in: [record]))
        view["isLatest"] = .flag(record.version == latest)
        view["isPrerelease"] = .flag(record.version.isPrerelease)
        view["latest"] = .text(record.version == latest ? nil : latest?.description)
        view["latestHref"] = .text(latest.map { "/products/\(product)/\(PercentEncoding.encode($0.description))" })
        view["uses"] = .list(
            uses(
                of: record, offered: offered.map(\.version), isSigned: disk.has("SHA256SUMS.sig"),
                isPublic: try await site.access().isPublic(product)))
        view["files"] = .list(files(of: record, downloads) + disk.descriptions.map { description($0, of: record) })
        view["fileCount"] = .text(record.files.count)
        view.merge(changes(disk.manifest?.changes, of: record))
        view["feed"] = .text("/products/\(product)/feed")
        view["feedTitle"] = .text("Versions of \(product)")
        return try await page(
            "version", title: "\(product) \(record.version)", section: "products", watch: "products", view)
    }

    static func place(of record: VersionRecord) -> String {
        "/products/\(record.product)/\(PercentEncoding.encode(record.version.description))"
    }

    private func facts(of record: VersionRecord, _ disk: VersionOnDisk) -> ViewObject {
        [
            "name": .text(record.product), "number": .text(record.version),
            "numberPath": .text(PercentEncoding.encode(record.version.description)),
            "isYanked": .flag(record.isYanked),
            "published": .text(record.publishedAt?.description ?? ""),
            "publishedText": .text(record.publishedAt.map(PageText.time) ?? ""),
            "when": .text(record.publishedAt.map { PageText.age($0, now: site.clock()) } ?? ""),
            "integration": .text(record.integration),
            "integrationHref": .text("/bots/\(record.integration.bot)/\(record.integration.number)"),
            "ref": .text(record.ref.shortName), "commit": .text(record.commit),
            "tree": .text(disk.manifest.flatMap { $0.tree.isEmpty ? nil : $0.tree }),
            "isolation": .text(disk.manifest?.isolation), "registry": .text(record.registry?.description),
            "signature": .text(disk.has("SHA256SUMS.sig") ? FileServer.root(record) + "SHA256SUMS.sig" : nil),
            "signatureText": .text(disk.seal.map { Self.text(of: $0.signature) } ?? ""),
            "isSignatureWrong": .flag(disk.seal?.signature == .wrong),
            "provenance": .text(disk.has("provenance.json") ? FileServer.root(record) + "provenance.json" : nil),
            "provenanceText": .text(disk.seal.map { Self.text(of: $0.origin) } ?? ""),
            "directory": .text(FileServer.root(record)),
            "api": .text(
                "/api/v1/products/\(record.product)/versions/\(PercentEncoding.encode(record.version.description))"),
        ]
    }

    // MARK: Signature and provenance

    private static func text(of signature: VersionSeal.Signature) -> String {
        switch signature {
        case .none: ""
        case .known(let key, let principals): "fits SHA256SUMS; by \(principals), \(key.fingerprint)"
        case .unknown(let key): "fits SHA256SUMS; by \(key.fingerprint), which ALLOWED_SIGNERS does not have"
        case .wrong: "does not fit SHA256SUMS: one of the two is not what was published"
        }
    }

    private static func text(of origin: VersionSeal.Origin) -> String {
        switch origin {
        case .none: ""
        case .stated(let builder, let inputs): "by \(builder), of \(inputs.counting("input"))"
        case .unreadable: "cannot be read"
        }
    }

    // MARK: Files

    private func files(of record: VersionRecord, _ downloads: Downloads.Counts) -> [ViewObject] {
        record.files.map { file in
            [
                "path": .text(file.path),
                "href": .text(FileServer.root(record) + PercentEncoding.encode(path: file.path)),
                "size": .text(file.size), "sha256": .text(file.sha256),
                "configuration": .text(file.configuration?.description),
                "downloads": .text(downloads.of(file.path, in: record)),
            ]
        }
    }

    private func description(_ file: (name: String, size: Int64), of record: VersionRecord) -> ViewObject {
        [
            "path": .text(file.name), "href": .text(FileServer.root(record) + file.name),
            "size": .text(ByteCount(file.size)), "sha256": false, "downloads": "",
        ]
    }

    // MARK: Changes

    private func changes(_ changes: VersionChanges?, of record: VersionRecord) -> ViewObject {
        guard let changes else { return ["hasChanges": false, "changes": []] }
        let count = changes.commits.count
        return [
            "hasChanges": true, "since": .text(changes.since),
            "sinceHref": .text("/products/\(record.product)/\(PercentEncoding.encode(changes.since.description))"),
            "changeCount": .text(
                count == 0 ? "the same commit" : (changes.isCut ? "the newest " : "") + count.counting("commit")),
            "changes": .list(
                changes.commits.map { commit in
                    [
                        "commit": .text(commit.id.abbreviated), "id": .text(commit.id),
                        "subject": .text(commit.subject),
                        "author": .text(commit.author),
                    ]
                }),
        ]
    }
}

/// The files in a version's directory that its row does not list. The initializer blocks.
struct VersionOnDisk: Sendable {
    /// `nil` if the manifest cannot be read; the page then shows less.
    let manifest: VersionManifest?
    /// The existing ones of the description files that every version can have, in this order, with their sizes in bytes.
    let descriptions: [(name: String, size: Int64)]

    /// The version's signature and its signer; `nil` if the directory cannot be read.
    let seal: VersionSeal?

    init(_ record: VersionRecord, state: String, seals: VersionSeals) {
        let listed = Set(record.files.map(\.path))
        guard let files = try? Directory(opening: "\(state)/files", readsSecondNames: true),
            let directory = try? files.directory("\(record.product)/\(record.version)")
        else {
            (manifest, descriptions, has, seal) = (nil, [], listed, nil)
            return
        }
        seal = seals.seal(of: directory, in: files, at: "\(record.product)/\(record.version)")
        descriptions = ["manifest.json", "SHA256SUMS", "SHA256SUMS.sig", "provenance.json"].compactMap { name in
            guard !listed.contains(name), let status = (try? directory.status(name)) ?? nil else { return nil }
            return (name, status.size)
        }
        let bytes = try? directory.read("manifest.json", limit: VersionManifest.maximumSize)
        manifest = bytes.flatMap { try? JSONDecoder().decode(VersionManifest.self, from: Data($0)) }
        has = Set(descriptions.map(\.name)).union(listed)
    }

    private let has: Set<String>

    func has(_ name: String) -> Bool { has.contains(name) }
}
