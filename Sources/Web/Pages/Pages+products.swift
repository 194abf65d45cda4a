import Encodings
import Hummingbird
import Model
import Storage

extension Pages {
    func products(_ call: AuthorizedRequest) async throws -> Response {
        var views: [ViewObject] = []
        for product in try await site.products(for: call.caller) {
            let versions = try await site.store.outlines(of: product)
            guard !versions.isEmpty else { continue }
            let latest = Self.latest(of: versions)
            let published = versions.compactMap(\.publishedAt).max()
            views.append([
                "name": .text(product), "latest": .text(latest?.description ?? "–"), "versions": .text(versions.count),
                "published": .text(published?.description ?? ""),
                "when": .text(published.map { PageText.age($0, now: site.clock()) } ?? ""),
            ])
        }
        return try await page(
            "products", title: "Products", section: "products", watch: "products",
            ["products": .list(views), "hasProducts": .flag(!views.isEmpty)])
    }

    /// The versions whose files a product's page shows.
    static let maximumVersionsWithFiles = 20

    func product(_ call: AuthorizedRequest) async throws -> Response {
        let product = try call.name("product")
        let versions = try await site.store.outlines(of: product)
        guard !versions.isEmpty else { throw await site.nothingPublished(of: product) }
        let latest = Self.latest(of: versions)
        // The highest versions are shown with their files; the files of others are on their own pages.
        let numbers = versions.prefix(Self.maximumVersionsWithFiles).map(\.version) + [latest].compactMap { $0 }
        let whole = try await site.store.versions(numbers, of: product)
        let downloads = try await site.downloads.counts(of: product)
        let how: String
        if let record = whole.first(where: { $0.version == latest }) {
            how = downloadUse(
                record, offered: versions.filter { !$0.isYanked }.map(\.version),
                isPublic: try await site.access().isPublic(product))
        } else {
            how = ""
        }
        return try await page(
            "product", title: product.description, section: "products", watch: "products",
            [
                "name": .text(product), "damaged": .list(damaged(in: versions)),
                "feed": .text("/products/\(product)/feed"), "feedTitle": .text("Versions of \(product)"),
                "versions": .list(
                    versions.map { outline in
                        let record = whole.first { $0.version == outline.version }
                        return version(record ?? outline, isLatest: outline.version == latest, how, downloads)
                    }),
            ])
    }

    /// Lists the known damaged files of these versions.
    func damaged(in versions: [VersionRecord]) -> [ViewObject] {
        let places = versions.map { "\(site.configuration.state)/files/\($0.product)/\($0.version)/" }
        return site.checks.damaged.compactMap { path, since in
            guard let place = places.first(where: { path.hasPrefix($0) }) else { return nil }
            return ["path": .text(path.dropFirst(place.count)), "since": .text(PageText.time(since))]
        }
    }

    private static func latest(of versions: [VersionRecord]) -> SemanticVersion? {
        VersionRange.latest.highest(of: versions.filter { !$0.isYanked }.map(\.version))
    }

    private func version(
        _ record: VersionRecord, isLatest: Bool, _ how: String, _ downloads: Downloads.Counts
    ) -> ViewObject {
        let root = "/files/\(record.product)/\(PercentEncoding.encode(record.version.description))/"
        return [
            "version": .text(record.version), "place": .text(Self.place(of: record)), "isLatest": .flag(isLatest),
            "isYanked": .flag(record.isYanked),
            "published": .text(record.publishedAt?.description ?? ""),
            "publishedText": .text(record.publishedAt.map(PageText.time) ?? ""),
            "integration": .text(record.integration),
            "integrationHref": .text("/bots/\(record.integration.bot)/\(record.integration.number)"),
            "ref": .text(record.ref.shortName), "commit": .text(record.commit.abbreviated), "how": .text(how),
            "hasFiles": .flag(!record.files.isEmpty),
            "files": .list(
                record.files.map { file in
                    [
                        "path": .text(file.path), "href": .text(root + PercentEncoding.encode(path: file.path)),
                        "size": .text(file.size), "sha256": .text(file.sha256),
                        "downloads": .text(downloads.of(file.path, in: record)),
                    ]
                }),
        ]
    }
}
