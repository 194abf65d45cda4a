import GRDB
package import Model

extension Store {
    /// Returns the published packages, each with the repositories of its versions.
    package func packages() async throws(StoreError) -> [(package: PackageIdentifier, repository: String)] {
        try await read("read the packages") { db in
            try db.rows(
                """
                SELECT DISTINCT registry, repository FROM versions
                WHERE registry IS NOT NULL AND state = 'published' AND repository IS NOT NULL
                ORDER BY registry, repository
                """
            ).map { (try $0.value("registry") { PackageIdentifier($0) }, try $0["repository"]) }
        }
    }

    /// Returns a conflict if the requested package belongs to another product; otherwise `nil`. A package belongs to the first product that uses it,
    /// even while only a number is reserved.
    static func registryConflict(_ request: VersionRequest, _ db: Database) throws -> Reservation? {
        guard let package = request.registry,
            let owner = try owner(of: package, besides: request.product, db)
        else { return nil }
        return .conflict(
            "the package \(package) belongs to the product \(owner.product) (\(owner.integration)); give `registry:` another name"
        )
    }

    /// Returns another product that has the package, with one of its integrations; `nil` if there is none.
    static func owner(
        of package: PackageIdentifier?, besides product: Name, _ db: Database
    ) throws -> (product: Name, integration: String)? {
        guard let package else { return nil }
        return try db.row(
            "SELECT product, integration FROM versions WHERE registry = ? AND product <> ? LIMIT 1",
            [package.description, product.description]
        ).map { (try $0.name("product"), try $0["integration"]) }
    }

    /// Returns the products that published versions of a package. A package belongs to one product, but file trees assembled by hand before that rule
    /// may contain several.
    package func products(of package: PackageIdentifier) async throws(StoreError) -> [Name] {
        try await read("read whose the package \(package) is") { db in
            try db.all(
                "SELECT DISTINCT product FROM versions WHERE registry = ? AND state = 'published' ORDER BY product",
                [package.description]
            ) { try $0.name("product") }
        }
    }
}
