/// What an archive is written as.
package enum ArchiveFormat: String, Sendable, CaseIterable {
    case tarZstandard = "tar.zst"
    case tarGzip = "tar.gz"
    case zip = "zip"

    /// What a file's name ends with, without the dot before it.
    package var fileExtension: String { rawValue }
}
