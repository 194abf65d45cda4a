import GRDB
package import Model

/// A request to publish a commit as a version.
package struct VersionRequest: Hashable, Sendable {
    /// The source of the version number.
    package enum Source: Hashable, Sendable {
        /// The next patch of a release line: `release/1.4` requests (1, 4).
        ///
        /// `newest` is the branch's newest published version (`Store.newestPublished`). `isAncestor` states whether `commit` is an ancestor of that
        /// version's commit. If another version has been published since, no number is reserved and the caller must check again.
        case branch(major: VersionNumber, minor: VersionNumber, newest: SemanticVersion?, isAncestor: Bool)
        /// A version stated by a tag, a file of the commit or a command.
        case exactly(SemanticVersion)
    }

    package var product: Name
    package var integration: IntegrationID
    package var commit: CommitID
    package var ref: RefName
    package var source: Source
    /// The versions with directories in the file server's tree. A number is never assigned twice, even if the database was lost.
    package var onDisk: [SemanticVersion]
    /// The requested name of the version in the package registry; `nil` if it is not to be in the registry.
    package var registry: PackageIdentifier?

    package init(
        product: Name, integration: IntegrationID, commit: CommitID, ref: RefName, source: Source,
        onDisk: [SemanticVersion], registry: PackageIdentifier? = nil
    ) {
        self.product = product
        self.integration = integration
        self.commit = commit
        self.ref = ref
        self.source = source
        self.onDisk = onDisk
        self.registry = registry
    }
}

/// The answer to a version request.
package enum Reservation: Hashable, Sendable {
    /// The number is reserved for this integration, now and when it requests it again.
    case reserved(SemanticVersion)
    /// The commit is published already under this version: a success.
    case already(SemanticVersion)
    /// The commit is an ancestor of the commit of this version of the branch, so it gets no version.
    case superseded(by: SemanticVersion)
    /// The branch's newest published version differs from the one that the caller checked: check again for an ancestor.
    case newestChanged(to: SemanticVersion?)
    /// The version belongs to another commit, or a running integration has reserved it; the sentence states which.
    case conflict(String)
}

extension Store {
    /// Reserves a version's number for an integration (step 1 of publishing). A repeated call for the same integration returns the same number, so
    /// that publishing continues after a stop.
    ///
    /// The next number of a line is one above the highest in the database and on disk, so that no number is assigned twice. An integration that runs
    /// the same commit again takes over the reservation of a completed one.
    /// - Returns: See `Reservation`.
    package func reserve(_ request: VersionRequest, at time: Timestamp) async throws(StoreError) -> Reservation {
        try await writer.write("reserve a version of \(request.product)") { transaction in
            if let conflict = try Self.registryConflict(request, transaction.db) { return conflict }
            let answer =
                switch request.source {
                case .exactly(let version): try Self.reserve(version, request, branch: nil, at: time, transaction)
                case .branch(let major, let minor, let newest, let isAncestor):
                    try Self.reserveNext(
                        (major, minor), request, newest: newest, isAncestor: isAncestor, at: time, transaction)
                }
            if case .reserved(let version) = answer {
                try transaction.db.change(
                    "UPDATE versions SET registry = ? WHERE product = ? AND version = ? AND state = 'reserved'",
                    [request.registry?.description, request.product.description, version.description])
                transaction.changed(.version(product: request.product))
                transaction.passes("version.reserved")
            }
            return answer
        }
    }

    private static func reserveNext(
        _ line: (major: VersionNumber, minor: VersionNumber), _ request: VersionRequest, newest: SemanticVersion?,
        isAncestor: Bool,
        at time: Timestamp, _ transaction: StoreTransaction
    ) throws -> Reservation {
        let db = transaction.db
        let branch = request.ref.shortName
        let same = try db.row(
            "SELECT * FROM versions WHERE product = ? AND branch = ? AND \"commit\" = ?",
            [request.product.description, branch, request.commit.description]
        ).map { try Self.version($0) }
        if let same { return try answer(same, request, transaction) }
        let now = try newestPublished(request.product, branch: branch, db)
        guard now?.version == newest else { return .newestChanged(to: now?.version) }
        if let now, isAncestor { return .superseded(by: now.version) }
        guard let version = try nextVersion(of: line, product: request.product, onDisk: request.onDisk, db) else {
            return .conflict(noVersionLeft(of: line))
        }
        return try reserve(version, request, branch: branch, at: time, transaction)
    }

    /// Returns the next number of a line; `nil` if its text would be longer than `SemanticVersion.maximumLength`.
    private static func nextVersion(
        of line: (major: VersionNumber, minor: VersionNumber), product: Name, onDisk: [SemanticVersion], _ db: Database
    ) throws -> SemanticVersion? {
        let stored = try db.rows(
            "SELECT version FROM versions WHERE product = ?", [product.description]
        ).map { try $0.value("version") { SemanticVersion($0) } }
        // A pre-release of a patch does not use up the patch's number.
        let used = (stored + onDisk + (try lostVersions(of: product, db))).filter { ($0.major, $0.minor) == line }
        let patch = used.map { $0.isPrerelease ? $0.patch : $0.patch.next }.max() ?? 0
        let version = SemanticVersion(line.major, line.minor, patch)
        return version.description.utf8.count <= SemanticVersion.maximumLength ? version : nil
    }

    private static func noVersionLeft(of line: (major: VersionNumber, minor: VersionNumber)) -> String {
        "the line \(line.major).\(line.minor) has no number left; publish from another branch"
    }

    /// Returns the number that a new commit of a line would get now. `reserve` reserves it, unless another version is reserved before.
    /// - Parameter onDisk: The versions with directories in the file server's tree.
    /// - Returns: `reserved` with the number, although it is not reserved; a conflict if the line has no number left.
    package func nextVersion(
        major: VersionNumber, minor: VersionNumber, product: Name, onDisk: [SemanticVersion]
    ) async throws(StoreError) -> Reservation {
        try await read("find the next version of \(product)") { db in
            try Self.nextVersion(of: (major, minor), product: product, onDisk: onDisk, db).map { .reserved($0) }
                ?? .conflict(Self.noVersionLeft(of: (major, minor)))
        }
    }

    private static func reserve(
        _ requested: SemanticVersion, _ request: VersionRequest, branch: String?, at time: Timestamp,
        _ transaction: StoreTransaction
    ) throws -> Reservation {
        if let stored = try version(requested, of: request.product, transaction.db) {
            return try answer(stored, request, transaction)
        }
        if request.onDisk.contains(requested) {
            return .conflict(
                "\(request.product) \(requested) lies in the file server's tree without a row; restart the daemon to adopt it"
            )
        }
        guard try !lostVersions(of: request.product, transaction.db).contains(requested) else {
            return .conflict(
                "\(request.product) \(requested) was published before this state was restored, and its files are lost; put them back into "
                    + "the state directory's files/, or give this commit another version")
        }
        try transaction.db.change(
            """
            INSERT INTO versions (product, version, state, "commit", ref, branch, integration, reserved_at)
            VALUES (?, ?, 'reserved', ?, ?, ?, ?, ?)
            """,
            [
                request.product.description, requested.description, request.commit.description, request.ref.description,
                branch, request.integration.description, time.millisecondsSinceEpoch,
            ])
        return .reserved(requested)
    }

    /// Returns the answer to a request for a version that has a row.
    private static func answer(
        _ stored: VersionRecord, _ request: VersionRequest, _ transaction: StoreTransaction
    ) throws -> Reservation {
        let name = "\(stored.product) \(stored.version)"
        guard stored.commit == request.commit else {
            return .conflict(
                "\(name) was made of \(stored.commit.abbreviated) by \(stored.integration) and never changes; "
                    + "give this commit another version")
        }
        if stored.state == .published { return .already(stored.version) }
        if stored.integration == request.integration { return .reserved(stored.version) }
        if let holder = try optionalIntegration(stored.integration, transaction.db), holder.state.verdict == nil {
            return .conflict("\(name) is being published by \(stored.integration); run the trigger again after it")
        }
        try transaction.db.change(
            "UPDATE versions SET integration = ? WHERE product = ? AND version = ?",
            [request.integration.description, stored.product.description, stored.version.description])
        return .reserved(stored.version)
    }
}
