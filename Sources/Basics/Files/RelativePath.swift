/// A path beneath a `Directory`: text, or bytes because a name need not be UTF-8.
///
/// It must not be empty or absolute, and must not contain NUL or empty or `..` components. Other paths are refused as
/// `FileError.Code.notBeneath`.
package protocol RelativePath {
    /// The bytes of the path as a system call expects them, without the final NUL.
    var pathBytes: [UInt8] { get }
}

extension String: RelativePath {
    /// The text's UTF-8.
    package var pathBytes: [UInt8] { Array(utf8) }
}

extension Substring: RelativePath {
    /// The text's UTF-8.
    package var pathBytes: [UInt8] { Array(utf8) }
}

extension [UInt8]: RelativePath {
    /// The bytes themselves.
    package var pathBytes: [UInt8] { self }
}

/// A checked path, split before the last component.
struct CheckedPath {
    let bytes: [UInt8]
    /// The components before the last one; `.` if there are none.
    let parent: [UInt8]
    /// The last component; `.` only if the whole path is `.`.
    let last: [UInt8]

    /// The path for messages.
    var description: String { String(decoding: bytes, as: UTF8.self) }

    init(_ path: some RelativePath, operation: String) throws(FileError) {
        var bytes = path.pathBytes
        while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
        let components = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isBeneath =
            !bytes.isEmpty && !bytes.contains(0)
            && components.allSatisfy { !$0.isEmpty && !$0.elementsEqual("..".utf8) }
        guard isBeneath else {
            throw FileError(
                code: .notBeneath, operation: operation, path: String(decoding: bytes, as: UTF8.self),
                message: "not a relative path without empty and .. components")
        }
        self.bytes = bytes
        last = Array(components[components.count - 1])
        parent = components.count == 1 ? [UInt8(ascii: ".")] : Array(bytes.dropLast(last.count + 1))
    }

    /// Whether the path names the directory itself. A directory cannot be made, renamed or removed through itself.
    var isSelf: Bool { last.elementsEqual(".".utf8) }
}

extension [UInt8] {
    /// Calls a C function with the bytes and a final NUL. The bytes themselves must not contain NUL, which
    /// `CheckedPath` has checked.
    func withCPath<Value>(_ body: (UnsafePointer<CChar>) -> Value) -> Value {
        (self + [0]).withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { characters in
                // There always is a base address, because the buffer contains at least the NUL.
                characters.baseAddress.map(body) ?? "".withCString(body)
            }
        }
    }
}
