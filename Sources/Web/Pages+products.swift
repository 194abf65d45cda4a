import Hummingbird
import Model
import Storage

extension Pages {
    func products(_ call: Call) async throws -> Response {
        var views: [ViewObject] = []
        for product in try await site.products(for: call.caller) {
            let versions = try await site.store.versions(of: product).filter { $0.state == .published }
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

    func product(_ call: Call) async throws -> Response {
        let product = try call.name("product")
        let versions = try await site.store.versions(of: product).filter { $0.state == .published }
            .sorted { $0.version > $1.version }
        guard !versions.isEmpty else { throw await site.nothingPublished(of: product) }
        let latest = Self.latest(of: versions)
        let downloads = try await site.downloads.counts(of: product)
        return try await page(
            "product", title: product.description, section: "products", watch: "products",
            [
                "name": .text(product), "damaged": .list(damaged(in: versions)),
                "feed": .text("/products/\(product)/feed"),
                "versions": .list(versions.map { version($0, isLatest: $0.version == latest, downloads) }),
            ])
    }

    /// Files that are not what was published, as far as that was seen.
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
        _ record: VersionRecord, isLatest: Bool, _ downloads: Downloads.Counts
    ) -> ViewObject {
        let root = "/files/\(record.product)/\(URLText.segment(record.version.description))/"
        let url = site.configuration.url
        let example = Self.example(of: record)
        let how = """
            curl -fO \(url)\(root)\(example.map { URLText.path($0.path) } ?? "")
            curl -f \(url)\(root)SHA256SUMS | sha256sum --check --ignore-missing
            martlet fetch --server \(url) \(record.product)@~\(record.version.major).\(record.version.minor)
            """
        return [
            "version": .text(record.version), "place": .text(Self.place(of: record)), "isLatest": .flag(isLatest),
            "isYanked": .flag(record.isYanked),
            "published": .text(record.publishedAt?.description ?? ""),
            "publishedText": .text(record.publishedAt.map(PageText.time) ?? ""),
            "integration": .text(record.integration),
            "integrationHref": .text("/bots/\(record.integration.bot)/\(record.integration.number)"),
            "ref": .text(record.ref.shortName), "commit": .text(record.commit.abbreviated), "how": .text(how),
            "files": .list(
                record.files.map { file in
                    [
                        "path": .text(file.path), "href": .text(root + URLText.path(file.path)),
                        "size": .text(file.size), "sha256": .text(file.sha256),
                        "downloads": .text(downloads.of(file.path, in: record)),
                    ]
                }),
        ]
    }
}
