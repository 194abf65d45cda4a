/// A name in a directory.
package struct DirectoryEntry: Sendable, Hashable {
    /// The name as the kernel stores it: any bytes but `/` and NUL.
    package let bytes: [UInt8]
    package let kind: FileKind

    package init(bytes: [UInt8], kind: FileKind) {
        self.bytes = bytes
        self.kind = kind
    }

    /// The name as text, for display only: invalid UTF-8 is replaced. Use `bytes` to access the file.
    package var name: String { String(decoding: bytes, as: UTF8.self) }

    /// Whether the name is valid UTF-8, so that `name` is exact.
    package var isText: Bool { Array(name.utf8) == bytes }
}
