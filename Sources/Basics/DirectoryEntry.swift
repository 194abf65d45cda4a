/// A name in a directory.
package struct DirectoryEntry: Sendable, Hashable {
    /// The name as the kernel has it: anything but `/` and NUL.
    package let bytes: [UInt8]
    package let kind: FileKind

    package init(bytes: [UInt8], kind: FileKind) {
        self.bytes = bytes
        self.kind = kind
    }

    /// The name as text. What is not UTF-8 is repaired, so this is for people; use `bytes` to reach the file.
    package var name: String { String(decoding: bytes, as: UTF8.self) }

    /// Whether `name` is the whole truth.
    package var isText: Bool { Array(name.utf8) == bytes }
}
