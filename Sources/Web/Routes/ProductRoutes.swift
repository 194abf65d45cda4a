import API
import HTTPTypes
import Hummingbird
import Integrations
import Model
import Storage

/// `/api/v1/products…`: lists products and their published versions.
struct ProductRoutes: Sendable {
    let site: Site

    var routes: [Route] {
        [
            Route(.get, "/api/v1/products", .product, "All products, each with its highest version.") { call in
                var items: [API.Product] = []
                for product in try await site.products(for: call.caller) {
                    let versions = try await site.store.outlines(of: product)
                    let latest = VersionRange.latest.highest(of: versions.filter { !$0.isYanked }.map(\.version))
                    items.append(
                        API.Product(
                            product: product.description, versions: versions.count, latest: latest?.description))
                }
                return try .json(API.List(items))
            }.described("listProducts", .versions, .json(API.List<API.Product>.self)).reaching(.listing),
            Route(
                .get, "/api/v1/products/{product}/versions", .product,
                "A product's versions, highest first; ?limit= (50, at most 200), ?before=, the `next` of an earlier answer."
            ) { call in
                let product = try call.name("product")
                let versions = try await site.store.outlines(of: product)
                guard !versions.isEmpty else { throw await site.nothingPublished(of: product) }
                return try .json(await site.page(of: versions, product, call))
            }.described(
                "listVersions", .versions, query: [.limit(), .beforeVersion], .json(API.List<API.Version>.self)),
            Route(.get, "/api/v1/products/{product}/versions/{version}", .product, "A version, or a range's highest.") {
                call in
                let (product, asked) = (try call.name("product"), call.text("version"))
                let versions = try await site.store.outlines(of: product)
                let range = VersionRange(asked)
                let candidates = versions.filter { !$0.isYanked || range == .exactly($0.version) }
                guard let version = range?.highest(of: candidates.map(\.version)),
                    let record = try await site.store.version(version, of: product)
                else { throw await site.nothing(asked, of: product, among: versions) }
                return try await .json(record, site)
            }.described("getVersion", .versions, .json(API.Version.self)),
            Route(
                .post, "/api/v1/products/{product}/versions/{version}/yank", .role(.operator),
                "Takes a version out of ranges; by its name it stays fetchable."
            ) { call in
                let product = try call.name("product")
                guard let version = SemanticVersion(call.text("version")) else {
                    throw Problem(400, "One version is yanked, such as 1.4.2, and no range.")
                }
                try await site.operations.yank(product: product, version: version, by: call.caller.name)
                try await site.record(.yanked, by: call, "\(product) \(version)")
                guard let record = try await site.store.version(version, of: product) else { throw Problem.notFound }
                return try await .json(record, site)
            }.described("yankVersion", .versions, .json(API.Version.self)),
        ]
    }
}
