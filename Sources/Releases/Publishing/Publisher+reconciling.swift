import Logging
import Model
import Storage

/// Settles versions that an earlier daemon, or an integration that has ended, left in the middle of being published.
extension Publisher {
    /// Reconciles the versions on the disk with the store, at the start. A reserved version that is complete on the disk is published. A version on
    /// the disk without a row is adopted. A version that was reserved by an integration that has ended is given up.
    ///
    /// A version that cannot be read is logged and left as it is; the others are not affected.
    package func reconcile() async throws {
        try await versions.clearStaging()
        await announce()
        for reservation in try await store.reservations() {
            await guarded(reservation.product, reservation.version) { try await self.settle(reservation) }
        }
        for product in try await versions.products() {
            let published = try await store.outlines(of: product)
            let known = Dictionary(published.map { ($0.version, $0) }) { first, _ in first }
            for version in try await versions.versions(of: product) {
                await guarded(product, version) { try await self.adopt(product, version, known: known[version]) }
            }
        }
    }

    /// Publishes the signing key. A key that cannot be used does not prevent the start: each publication reports it, and publishes no version.
    private func announce() async {
        do {
            if let reason = try await attestor?.announce(in: versions) {
                logger.warning("versions are not signed", metadata: ["reason": "\(reason)"])
            }
        } catch {
            logger.error("versions cannot be signed", metadata: ["error": "\(error)"])
        }
    }

    private func guarded(
        _ product: Name, _ version: SemanticVersion, _ body: () async throws -> Void
    ) async {
        do {
            try await body()
        } catch {
            logger.error(
                "a version's files and record could not be reconciled",
                metadata: ["product": "\(product)", "version": "\(version)", "error": "\(error)"])
        }
    }

    private func settle(_ reservation: VersionRecord) async throws {
        let manifest = try await versions.manifest(product: reservation.product, version: reservation.version)
        if let manifest, manifest.commit == reservation.commit {
            try await record(manifest)
        } else if manifest == nil, try await store.integration(reservation.integration)?.state.verdict != nil {
            try await store.abandon(product: reservation.product, version: reservation.version)
        }
    }

    /// Adds the row of a version on the disk, or marks a row as yanked if its file says so.
    private func adopt(_ product: Name, _ version: SemanticVersion, known: VersionRecord?) async throws {
        let yanking = try await versions.yanked(product: product)[version]
        let isYanked = yanking != nil
        if let known {
            if isYanked, !known.isYanked { try await store.yank(product: product, version: version, at: clock.now()) }
            return
        }
        guard let manifest = try await versions.manifest(product: product, version: version) else { return }
        let record = VersionRecord(
            product: product, version: version, state: .published, isYanked: isYanked, commit: manifest.commit,
            ref: manifest.ref, integration: manifest.integration, files: manifest.files,
            publishedAt: manifest.publishedAt, registry: manifest.registry, repository: manifest.repository,
            yankedAt: yanking?.at)
        let owner = try await store.adopt(record, isFromBranch: manifest.ref.branch != nil, at: clock.now())
        warn(of: owner, manifest)
        logger.notice("adopted", metadata: ["product": "\(product)", "version": "\(version)"])
    }

    /// Settles the versions that ended integrations could not settle, as on a full disk. Otherwise an unused number would stay reserved, and the next
    /// commit would skip it. A complete version on the disk would be shown only after a restart.
    func settleEnded(_ request: Request) async throws {
        for left in try await store.reservations()
        where left.product == request.product && left.integration != request.integration.id {
            guard try await store.integration(left.integration)?.state.verdict != nil else { continue }
            await guarded(left.product, left.version) { try await self.settle(left) }
        }
    }
}
