import GRDB
package import Model

extension Store {
    /// The published versions of a package, highest first; none for one that nobody publishes.
    package func versions(of package: PackageIdentifier) async throws(StoreError) -> [VersionRecord] {
        try await read("read the versions of the package \(package)") { db in
            try Row.fetchAll(
                db, sql: "SELECT * FROM versions WHERE registry = ? AND state = 'published'",
                arguments: [package.description]
            ).map(Self.version).sorted { $0.version > $1.version }
        }
    }

    /// The packages that are published, each with the repositories that its versions were made of, as the bots' files write them.
    package func packages() async throws(StoreError) -> [(package: PackageIdentifier, repository: String)] {
        try await read("read the packages") { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT DISTINCT registry, url FROM versions
                    JOIN bots ON bots.name = substr(integration, 1, instr(integration, '#') - 1)
                    JOIN repositories ON repositories.id = bots.repository
                    WHERE registry IS NOT NULL AND state = 'published' ORDER BY registry, url
                    """
            ).map { (try $0.value("registry") { PackageIdentifier($0) }, $0["url"]) }
        }
    }

    /// A package belongs to the product that has it first, also while nothing but a number is reserved.
    static func registryConflict(_ request: VersionRequest, _ db: Database) throws -> Reservation? {
        guard let package = request.registry else { return nil }
        let owner = try Row.fetchOne(
            db, sql: "SELECT product, integration FROM versions WHERE registry = ? AND product <> ? LIMIT 1",
            arguments: [package.description, request.product.description])
        guard let owner else { return nil }
        let (product, integration): (String, String) = (owner["product"], owner["integration"])
        return .conflict(
            "the package \(package) belongs to the product \(product) (\(integration)); give `registry:` another name")
    }
}
