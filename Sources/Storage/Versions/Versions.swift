import GRDB
package import Model

/// A version of a product, from its reservation on.
package struct VersionRecord: Hashable, Sendable {
    /// `reserved`: the number is taken but the version is not visible; `published`: final.
    package enum State: String, Hashable, Sendable, Codable, CaseIterable { case reserved, published }

    package var product: Name
    package var version: SemanticVersion
    package var state: State
    /// Whether it is no longer offered by ranges and `latest`. Its files stay.
    package var isYanked: Bool
    /// When it was yanked; `nil` if it is not yanked, and if a yanked version was adopted without a time.
    package var yankedAt: Timestamp?
    package var commit: CommitID
    package var ref: RefName
    /// The integration as the manifest names it. Its row may be missing after the database was lost.
    package var integration: IntegrationID
    package var files: [Artifact]
    package var publishedAt: Timestamp?
    /// The version's name in the package registry; `nil` if it is not in the registry.
    package var registry: PackageIdentifier?
    /// The repository of its commit; `nil` for a path on this machine, and if it is unknown.
    package var repository: String?

    package init(
        product: Name, version: SemanticVersion, state: State, isYanked: Bool = false, commit: CommitID, ref: RefName,
        integration: IntegrationID, files: [Artifact] = [], publishedAt: Timestamp? = nil,
        registry: PackageIdentifier? = nil, repository: String? = nil, yankedAt: Timestamp? = nil
    ) {
        self.product = product
        self.version = version
        self.state = state
        self.isYanked = isYanked
        self.commit = commit
        self.ref = ref
        self.integration = integration
        self.files = files
        self.publishedAt = publishedAt
        self.registry = registry
        self.repository = repository
        self.yankedAt = yankedAt
    }
}

/// The contents of a published version's manifest. Its row holds the same values, independent of the request and its time.
package struct PublishedVersion: Hashable, Sendable {
    package var product: Name
    package var version: SemanticVersion
    /// The integration that made the version. Another integration that ran later may hold a new reservation of the number.
    package var integration: IntegrationID
    package var files: [Artifact]
    package var publishedAt: Timestamp
    /// The version's name in the package registry; `nil` if it is not in the registry.
    package var registry: PackageIdentifier?
    /// The public address of the commit's repository; `nil` for a path on this machine.
    package var repository: String?

    package init(
        product: Name, version: SemanticVersion, integration: IntegrationID, files: [Artifact], publishedAt: Timestamp,
        registry: PackageIdentifier? = nil, repository: String? = nil
    ) {
        self.product = product
        self.version = version
        self.integration = integration
        self.files = files
        self.publishedAt = publishedAt
        self.registry = registry
        self.repository = repository
    }
}

extension Store {
    /// Returns the version of the highest precedence that was published from a branch; `nil` if there is none. Before calling `reserve`, the caller
    /// checks whether its commit is an ancestor of that version's. Yanked versions count: their numbers are used and their commits were released.
    package func newestPublished(product: Name, branch: String) async throws(StoreError) -> VersionRecord? {
        try await read("read the newest version of \(product)") { db in
            try Self.newestPublished(product, branch: branch, db)
        }
    }

    static func newestPublished(_ product: Name, branch: String, _ db: Database) throws -> VersionRecord? {
        try db.rows(
            "SELECT * FROM versions WHERE product = ? AND branch = ? AND state = 'published'",
            [product.description, branch]
        ).map { try Self.version($0) }.max { $0.version < $1.version }
    }

    /// Records that a reserved version's directory is in place. Repeating it with the same files changes no row.
    /// - Parameter time: The time of the publication, for notices of releases.
    /// - Returns: Another product that owns the version's package by now, so that the version is not in the registry; otherwise `nil`.
    /// - Throws: `notFound` if it was not reserved; `exists` if it is published with other files.
    @discardableResult
    package func publish(_ manifest: PublishedVersion, at time: Timestamp) async throws(StoreError) -> Name? {
        let (product, version) = (manifest.product, manifest.version)
        return try await writer.write("publish \(product) \(version)") { transaction in
            let record = try Self.version(version, of: product, transaction.db)
            guard let record else { throw Refusal.notFound("version \(product) \(version)") }
            if record.state == .published {
                guard record.files == manifest.files else {
                    throw Refusal(code: .exists, message: "it is published with other files, and never changes")
                }
                return nil
            }
            let owner = try Self.owner(of: manifest.registry, besides: product, transaction.db)?.product
            try transaction.db.change(
                """
                UPDATE versions SET state = 'published', files = ?, published_at = ?, integration = ?, registry = ?,
                    repository = ? WHERE product = ? AND version = ?
                """,
                [
                    try jsonText(manifest.files), manifest.publishedAt.millisecondsSinceEpoch,
                    manifest.integration.description, owner == nil ? manifest.registry?.description : nil,
                    manifest.repository, product.description, version.description,
                ])
            if let published = try Self.version(version, of: product, transaction.db) {
                try Self.announceRelease(published, at: time, transaction)
            }
            transaction.changed(.version(product: product))
            transaction.passes("version.published")
            return owner
        }
    }

    /// Releases a reserved number. Returns without an error if it was never reserved.
    /// - Throws: `illegalTransition` if it is published: a published version never disappears.
    package func abandon(product: Name, version: SemanticVersion) async throws(StoreError) {
        try await writer.write("abandon \(product) \(version)") { transaction in
            guard let record = try Self.version(version, of: product, transaction.db) else { return }
            guard record.state == .reserved else {
                throw Refusal(code: .illegalTransition, message: "it is published; it can only be yanked")
            }
            try transaction.db.change(
                "DELETE FROM versions WHERE product = ? AND version = ?", [product.description, version.description])
            transaction.changed(.version(product: product))
            transaction.passes("version.abandoned")
        }
    }

    /// Removes a published version from ranges and `latest`; its files stay. Repeating it changes no row.
    /// - Throws: `notFound` if it is not published.
    package func yank(product: Name, version: SemanticVersion, at time: Timestamp) async throws(StoreError) {
        try await writer.write("yank \(product) \(version)") { transaction in
            guard let record = try Self.version(version, of: product, transaction.db), record.state == .published else {
                throw Refusal.notFound("published version \(product) \(version)")
            }
            if record.isYanked { return }
            try transaction.db.change(
                "UPDATE versions SET is_yanked = 1, yanked_at = ? WHERE product = ? AND version = ?",
                [time.millisecondsSinceEpoch, product.description, version.description])
            transaction.changed(.version(product: product))
            transaction.passes("version.yanked")
        }
    }

    /// Creates the row of a version whose directory has none, for example after the database was lost. A reserved row becomes published; a published
    /// one stays as it is. The number of its integration counts as used.
    /// - Parameters:
    ///   - record: The manifest's record. If it has no `publishedAt`, `time` is stored. Its state becomes `published`.
    ///   - isFromBranch: Whether the number came from the branch, so that its commit counts as published there.
    /// - Returns: See `publish`.
    @discardableResult
    package func adopt(
        _ record: VersionRecord, isFromBranch: Bool, at time: Timestamp
    ) async throws(StoreError) -> Name? {
        try await writer.write("adopt \(record.product) \(record.version)") { transaction in
            if let stored = try Self.version(record.version, of: record.product, transaction.db),
                stored.state == .published
            {
                return nil
            }
            let owner = try Self.owner(of: record.registry, besides: record.product, transaction.db)?.product
            try transaction.db.change(
                "DELETE FROM versions WHERE product = ? AND version = ?",
                [record.product.description, record.version.description])
            let published = (record.publishedAt ?? time).millisecondsSinceEpoch
            try transaction.db.change(
                """
                INSERT INTO versions (product, version, state, is_yanked, "commit", ref, branch, integration, files,
                    reserved_at, published_at, registry, repository,
                    yanked_at) VALUES (?1, ?2, 'published', ?3, ?4, ?5,
                    iif(EXISTS (SELECT 1 FROM versions WHERE product = ?1 AND branch = ?6 AND "commit" = ?4), NULL, ?6),
                    ?7, ?8, ?9, ?10, ?11, ?12, ?13)
                """,
                [
                    record.product.description, record.version.description, record.isYanked,
                    record.commit.description, record.ref.description, isFromBranch ? record.ref.branch : nil,
                    record.integration.description, try jsonText(record.files), time.millisecondsSinceEpoch, published,
                    owner == nil ? record.registry?.description : nil, record.repository,
                    record.yankedAt?.millisecondsSinceEpoch,
                ])
            try Self.skip(to: record.integration.number, of: record.integration.bot, transaction.db)
            transaction.changed(.version(product: record.product))
            transaction.passes("version.adopted")
            return owner
        }
    }

    /// Returns a product's versions, highest first, including reserved ones.
    package func versions(of product: Name) async throws(StoreError) -> [VersionRecord] {
        try await read("read the versions of \(product)") { db in
            try db.rows("SELECT * FROM versions WHERE product = ?", [product.description])
                .map { try Self.version($0) }.sorted { $0.version > $1.version }
        }
    }

    /// Returns the products that have a published version, by name.
    package func products() async throws(StoreError) -> [Name] {
        try await read("read the products") { db in
            try db.rows(
                "SELECT DISTINCT product FROM versions WHERE state = 'published' ORDER BY product"
            )
            .map { try $0.name("product") }
        }
    }

    /// Returns the number of published versions of each product, by name of the product.
    package func versionCounts() async throws(StoreError) -> [(product: Name, count: Int)] {
        try await read("count the versions") { db in
            try db.all(
                "SELECT product, count(*) FROM versions WHERE state = 'published' GROUP BY product ORDER BY product"
            ) { (product: try $0.name("product"), count: try $0[1]) }
        }
    }

    /// Returns the versions that are reserved but not published, oldest first. The daemon reconciles them at startup.
    package func reservations() async throws(StoreError) -> [VersionRecord] {
        try await read("read the reserved versions") { db in
            try db.rows("SELECT * FROM versions WHERE state = 'reserved' ORDER BY id").map {
                try Self.version($0)
            }
        }
    }

    /// Returns a product's version, even if it is only reserved; `nil` if there is none.
    package func version(_ version: SemanticVersion, of product: Name) async throws(StoreError) -> VersionRecord? {
        try await read("read \(product) \(version)") { db in try Self.version(version, of: product, db) }
    }

    static func version(_ version: SemanticVersion, of product: Name, _ db: Database) throws -> VersionRecord? {
        try db.row(
            "SELECT * FROM versions WHERE product = ? AND version = ?",
            [product.description, version.description]
        ).map { try Self.version($0) }
    }

    /// Returns the version in a row.
    /// - Parameter files: The files to use without decoding the row's; `nil` to decode them.
    static func version(_ row: StoredRow, files: [Artifact]? = nil) throws -> VersionRecord {
        VersionRecord(
            product: try row.name("product"), version: try row.value("version") { SemanticVersion($0) },
            state: try row.value("state") { VersionRecord.State(rawValue: $0) }, isYanked: try row["is_yanked"],
            commit: try row.value("commit") { CommitID($0) }, ref: try row.ref("ref"),
            integration: try row.value("integration") { IntegrationID($0) },
            files: try files ?? row.json("files", as: [Artifact].self) ?? [],
            publishedAt: try row.optionalTime("published_at"),
            registry: try row.optional("registry") { PackageIdentifier($0) }, repository: try row["repository"],
            yankedAt: try row.optionalTime("yanked_at"))
    }
}
