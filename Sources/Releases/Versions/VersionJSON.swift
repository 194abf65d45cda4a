import Archives
import Basics
import FoundationEssentials
import Model

/// The reading of a version's JSON files, such as `manifest.json` and `yanked.json`.
enum VersionJSON {
    static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try JSONDecoder().decode(type, from: Data(bytes))
    }

    /// Reads a version's manifest beneath the directory of all products.
    /// - Returns: `nil` if there is no such version.
    /// - Throws: `corrupted` if the manifest cannot be read or is of another version.
    static func manifest(
        product: Name, version: SemanticVersion, in files: Directory
    ) throws(ArchiveError) -> VersionManifest? {
        let path = "\(product)/\(version)"
        let operation = "reading of \(product) \(version)"
        do {
            guard try files.status(path) != nil else { return nil }
            let bytes = try files.read("\(path)/manifest.json", limit: VersionManifest.maximumSize)
            let manifest = try decode(VersionManifest.self, from: bytes)
            guard manifest.product == product, manifest.version == version else {
                throw ArchiveError(
                    code: .corrupted, operation: operation,
                    message:
                        "its manifest.json names \(manifest.product) \(manifest.version); was the directory renamed?")
            }
            return manifest
        } catch let error as FileError {
            throw ArchiveError(
                code: .corrupted, operation: operation, message: "its manifest.json cannot be read: \(error.message)",
                underlying: error)
        } catch let error as DecodingError {
            throw ArchiveError(
                code: .corrupted, operation: operation,
                message: "its manifest.json is not a manifest: \(error.sentence)",
                underlying: error)
        } catch {
            throw ArchiveError(operation, error)
        }
    }
}
