import Archives
import Logging
import Model
import Storage

/// What a daemon before this one, or an integration that has ended, left between the moves of publishing.
extension Publisher {
    /// On start: what was reserved and lies there whole is published; what lies there without a row is adopted; what
    /// was reserved by an integration that has ended is given up.
    ///
    /// A version that cannot be read is left alone and logged; the others are not held up by it.
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

    /// A key that cannot be used stops nobody from starting: each publication says so, and publishes nothing.
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
                "a version could not be reconciled",
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

    /// Makes the row of a version that lies on disk, or marks a row yanked whose file says so.
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

    /// Settles what integrations that have ended could not, as on a full disk: else a number that nobody uses stays taken, and the next
    /// commit's leaves it out; and what lies there whole is shown only after a start.
    func settleEnded(_ request: Request) async throws {
        for left in try await store.reservations()
        where left.product == request.product && left.integration != request.integration.id {
            guard try await store.integration(left.integration)?.state.verdict != nil else { continue }
            await guarded(left.product, left.version) { try await self.settle(left) }
        }
    }
}
