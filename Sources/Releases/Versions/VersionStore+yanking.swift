package import Archives
import Basics
package import Model

extension VersionStore {
    /// Marks a version as yanked. It is kept and can be fetched by its exact name, but ranges and `latest` ignore it. Yanking it again has no effect;
    /// the first reason stays.
    /// - Throws: `notFound` if it is not published.
    package func yank(
        product: Name, version: SemanticVersion, reason: String, at time: Timestamp
    ) async throws(ArchiveError) {
        let operation = "yanking of \(product) \(version)"
        try await queue.run { [files] () throws(ArchiveError) in
            do {
                guard try files.status("\(product)/\(version)") != nil else {
                    throw ArchiveError(code: .notFound, operation: operation, message: "it is not published")
                }
                var all = try Self.readYanked(product, files)
                guard all[version.description] == nil else { return }
                all[version.description] = YankingRecord(reason: reason, at: time.description)
                try AtomicFile.write(
                    try PublishedJSON.encode(all), to: "\(files.path)/\(product)/yanked.json", mode: 0o444)
            } catch {
                throw ArchiveError(operation, error)
            }
        }
    }

    /// Returns the yanked versions of a product.
    package func yanked(product: Name) async throws(ArchiveError) -> [SemanticVersion: Yanking] {
        try await queue.run { [files] () throws(ArchiveError) in
            do {
                var found: [SemanticVersion: Yanking] = [:]
                for (text, record) in try Self.readYanked(product, files) {
                    guard let version = SemanticVersion(text), let at = Timestamp(rfc3339: record.at) else {
                        throw ArchiveError(
                            code: .corrupted, operation: "reading of \(product)'s yanked.json",
                            message: "\(text.prefix(140)) is not a version with a time")
                    }
                    found[version] = Yanking(reason: record.reason, at: at)
                }
                return found
            } catch {
                throw ArchiveError("reading of \(product)'s yanked.json", error)
            }
        }
    }

    /// An entry of `yanked.json`, which is keyed by version.
    private struct YankingRecord: Codable {
        var reason: String
        /// The time in the form of RFC 3339.
        var at: String
    }

    private static func readYanked(_ product: Name, _ files: Directory) throws -> [String: YankingRecord] {
        let path = "\(product)/yanked.json"
        guard try files.status(path) != nil else { return [:] }
        let bytes = try files.read(path, limit: VersionManifest.maximumSize)
        do {
            return try VersionJSON.decode([String: YankingRecord].self, from: bytes)
        } catch {
            throw ArchiveError(
                code: .corrupted, operation: "reading of \(path)",
                message: "yanked.json of \(product) is damaged; restore it from a backup", underlying: error)
        }
    }
}
