import GRDB
package import Model

/// Published versions for listings and ranges. A version can have hundreds of files, stored as JSON. Decoding the files of thousands of versions to
/// find the highest one would cost each anonymous request seconds. Files are therefore read only for versions that are shown.
extension Store {
    private static let outline = """
        SELECT product, version, state, is_yanked, yanked_at, "commit", ref, integration, published_at, registry,
            repository FROM versions
        """

    /// Returns a product's published versions, highest first, without their files.
    package func outlines(of product: Name) async throws(StoreError) -> [VersionRecord] {
        try await read("read the versions of \(product)") { db in
            try db.all(Self.outline + " WHERE product = ? AND state = 'published'", [product.description]) {
                try Self.version($0, files: [])
            }.sorted { $0.version > $1.version }
        }
    }

    /// Returns a package's published versions, highest first, without their files; empty for a package that is not published.
    package func outlines(of package: PackageIdentifier) async throws(StoreError) -> [VersionRecord] {
        try await read("read the versions of the package \(package)") { db in
            try db.all(Self.outline + " WHERE registry = ? AND state = 'published'", [package.description]) {
                try Self.version($0, files: [])
            }.sorted { $0.version > $1.version }
        }
    }

    /// Returns a package's published version, with its files; `nil` if there is none.
    package func version(
        _ version: SemanticVersion, of package: PackageIdentifier
    ) async throws(StoreError) -> VersionRecord? {
        try await read("read \(package) \(version)") { db in
            try db.first(
                """
                SELECT * FROM versions WHERE registry = ? AND version = ? AND state = 'published'
                ORDER BY product LIMIT 1
                """,
                [package.description, version.description]
            ) { try Self.version($0) }
        }
    }

    /// Returns a product's published versions with these numbers, with their files, highest first.
    package func versions(
        _ numbers: [SemanticVersion], of product: Name
    ) async throws(StoreError) -> [VersionRecord] {
        try await read("read versions of \(product)") { db in
            try db.all(
                """
                SELECT * FROM versions WHERE product = ? AND state = 'published'
                AND version IN (SELECT value FROM json_each(?))
                """,
                [product.description, try jsonText(numbers.map(\.description))]
            ) { try Self.version($0) }.sorted { $0.version > $1.version }
        }
    }

    /// Returns a product's most recently published versions, with their files, newest first.
    package func publishedLately(_ product: Name, limit: Int) async throws(StoreError) -> [VersionRecord] {
        try await read("read the newest versions of \(product)") { db in
            try db.all(
                """
                SELECT * FROM versions WHERE product = ? AND state = 'published'
                ORDER BY published_at DESC, id DESC LIMIT ?
                """,
                [product.description, limit]
            ) { try Self.version($0) }
        }
    }
}
