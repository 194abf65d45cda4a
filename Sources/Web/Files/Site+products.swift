import API
import Integrations
import Model
import Storage

extension Site {
    /// Returns a page of a product's versions with their files, highest first. It depends on `?limit=` and on `?before=`, the `next` of an earlier
    /// answer.
    /// - Parameter versions: All published versions, highest first.
    func page(of versions: [VersionRecord], _ product: Name, _ call: AuthorizedRequest) async throws
        -> API.List<API.Version>
    {
        let limit = try call.limit()
        var rest = versions[...]
        if let text = call.query("before") {
            guard let before = SemanticVersion(text) else {
                throw Problem(400, "`before` is the `next` of an earlier answer.")
            }
            rest = rest.drop { $0.version >= before }
        }
        let page = rest.prefix(limit).map(\.version)
        let records = try await store.versions(page, of: product)
        let downloads = try await downloads.counts(of: product)
        return API.List(
            items: records.map { API.Version($0, root: configuration.url, downloads: downloads) },
            next: rest.count > page.count ? page.last?.description : nil)
    }

    /// Returns the 404 for a product without published versions: either no bot makes it, or no version is published yet.
    func nothingPublished(of product: Name) async -> Problem {
        let bots = await operations.overview().bots.filter { $0.product == product }
        let publishing = bots.first { bot in
            bot.triggers.contains { if case .publish = $0.action { true } else { false } }
        }
        if let publishing {
            return Problem(404, "Nothing of \(product) is published yet; \(publishing.name) will publish it.")
        }
        guard let bot = bots.first else { return Problem(404, "There is no product \(product).") }
        return Problem(404, "Nothing of \(product) is published: \(bot.name) has no `publish` trigger.")
    }

    /// Returns the 404 for a version or range that matches none of a product's versions.
    /// - Parameter published: The published versions.
    func nothing(_ asked: String, of product: Name, among published: [VersionRecord]) async -> Problem {
        guard !published.isEmpty else { return await nothingPublished(of: product) }
        guard let range = VersionRange(asked) else {
            return Problem(
                404, "No version is called so: a version is 1.4.2, a range latest, latest-pre, ~1.4 or ^1.")
        }
        if case .exactly(let version) = range {
            return Problem(404, "There is no published version \(version) of \(product).")
        }
        let newest = published.map(\.version).max().map { "; the highest is \($0)" } ?? ""
        return Problem(404, "No published version of \(product) fits \(asked)\(newest).")
    }
}
