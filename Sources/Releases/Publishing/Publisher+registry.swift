import Logging
import Model
import SourceControl
import Storage

/// Makes the files of a version for the package registry: the source archive of its commit, and the manifests.
extension Publisher {
    /// Checks that a commit is a Swift package. Called before a number is reserved, so that any other commit gets no version.
    func checkPackage(_ request: Request) async throws {
        let (commit, mirror) = (request.integration.commit, request.mirror)
        let names = try await mirror.rootEntries(of: commit).compactMap { ManifestName($0) }
        guard names.count <= ManifestName.maximumCount else {
            throw TriggerError("\(commit.abbreviated) has more than \(ManifestName.maximumCount) manifests in its root")
        }
        var hasUsual = false
        for name in names {
            do {
                let bytes = try await mirror.file(name.description, at: commit, limit: ManifestName.maximumBytes)
                if bytes != nil, name.swift == nil { hasUsual = true }
            } catch {
                guard error.code == .tooLarge else { throw error }
                throw TriggerError(
                    "\(name) of \(commit.abbreviated) is larger than \(ByteCount(1 << 20)), the limit of the registry")
            }
        }
        guard hasUsual else {
            throw TriggerError(
                "\(commit.abbreviated) has no Package.swift in its root, which `registry:` publishes; remove it from the "
                    + "bot's trigger")
        }
    }

    /// Makes the files. The archive's top directory is the package's name without the version, as in SwiftPM's own archives.
    func packageFiles(
        _ package: PackageIdentifier, _ version: SemanticVersion, _ request: Request, in scratch: String
    ) async throws -> (files: [(source: String, artifact: Artifact)], leftOut: [String]) {
        let integration = request.integration
        do {
            try await request.mirror.export(integration.commit, into: scratch)
            let packed = try await versions.packSource(
                tree: scratch, top: package.name, fileName: "\(package.name)-\(version).zip",
                modified: integration.committedAt ?? integration.queuedAt
            )
            if !packed.leftOut.isEmpty {
                logger.warning(
                    "the registry's archive does not have all of the commit",
                    metadata: [
                        "product": "\(request.product)", "version": "\(version)", "count": "\(packed.leftOut.count)",
                        "missing": "\(packed.leftOut.prefix(10).joined(separator: "; "))",
                    ])
            }
            return (
                packed.files.map { ($0.source, $0.artifact) },
                packed.leftOut.map { "\($0); it is not in the registry's archive" }
            )
        } catch {
            await clear(scratch, of: request)
            throw error
        }
    }

    /// Returns the files that the archives of an integration lack, according to the warnings of its newest attempts.
    func leftOut(of id: IntegrationID) async throws -> [String] {
        var newest: [Name: AttemptID] = [:]
        for attempt in try await store.attempts(of: id) {
            newest[attempt.id.job] = max(attempt.id, newest[attempt.id.job] ?? attempt.id)
        }
        var leftOut: [String] = []
        for attempt in newest.values.sorted() {
            leftOut += try await store.findings(of: attempt).map(\.finding)
                .filter { $0.rule == Finding.Rule.leftOut }.map(\.message)
        }
        return leftOut
    }

    /// Removes the files that were made for a version of a package. Those that cannot be removed now are removed at the next start.
    func clear(_ scratch: String, of request: Request) async {
        guard request.registry != nil else { return }
        do {
            try await versions.removeScratch(scratch)
        } catch {
            logger.warning("files made for the registry remain beside", metadata: ["error": "\(error)"])
        }
    }
}
