/// The file format of an archive.
package enum ArchiveFormat: String, Sendable, CaseIterable {
    case tarZstandard = "tar.zst"
    case tarGzip = "tar.gz"
    case zip = "zip"

    /// The end of the file's name, without the dot before it.
    package var fileExtension: String { rawValue }
}
