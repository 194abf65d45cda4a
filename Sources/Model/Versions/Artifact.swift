/// A file that an attempt archived, or that a version holds.
package struct Artifact: Hashable, Sendable, Codable {
    /// The configuration in which it was built; `nil` for files of no configuration, such as the source archive.
    package var configuration: Name?
    /// A relative path with `/`, without empty, `.` and `..` components.
    package var path: String
    package var size: ByteCount
    /// The SHA-256 digest: 64 lower-case hexadecimal digits.
    package var sha256: String

    package init(configuration: Name?, path: String, size: ByteCount, sha256: String) {
        self.configuration = configuration
        self.path = path
        self.size = size
        self.sha256 = sha256
    }
}
