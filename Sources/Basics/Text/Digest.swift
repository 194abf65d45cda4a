import Crypto
import Encodings
import Glibc

/// Computations of SHA-256 digests and HMACs.
package enum Digest {
    /// Returns the digest as 64 lower-case hexadecimal digits.
    package static func sha256(of bytes: [UInt8]) -> String { Hexadecimal.encode(SHA256.hash(data: bytes)) }

    /// Returns the digest and the size in bytes of a regular file that the operator chose. The file may have other hard links. Blocks while it reads
    /// the file in pieces of 256 KiB.
    /// - Throws: If it cannot be read or is not a regular file.
    package static func sha256(ofFile path: String) throws(FileError) -> (sha256: String, size: Int64) {
        let slash = path.lastIndex(of: "/")
        let above = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
        return try sha256(of: name, in: Directory(opening: above, readsSecondNames: true))
    }

    /// Returns the digest and the size in bytes of a regular file beneath a directory. Blocks.
    package static func sha256(
        of path: some RelativePath, in directory: Directory
    ) throws(FileError) -> (sha256: String, size: Int64) {
        let descriptor = try directory.openForReading(path)
        defer { close(descriptor) }
        var hash = SHA256()
        var size: Int64 = 0
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw FileError(
                    operation: "read", path: directory.path + "/" + String(decoding: path.pathBytes, as: UTF8.self),
                    errno: errno)
            }
            if count == 0 { return (Hexadecimal.encode(hash.finalize()), size) }
            size += Int64(count)
            hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    /// Returns the HMAC with SHA-256 (RFC 2104): 32 bytes. `MessageAuthentication` does the same for a message in pieces. Compare with
    /// `ConstantTime.areEqual`.
    package static func hmacSHA256(key: [UInt8], message: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: key)))
    }
}

/// The HMAC with SHA-256 (RFC 2104) of a message that arrives in pieces.
package struct MessageAuthentication {
    private var code: HMAC<SHA256>

    package init(key: [UInt8]) { code = HMAC<SHA256>(key: SymmetricKey(data: key)) }

    /// Adds the next bytes of the message.
    package mutating func update(_ bytes: [UInt8]) { code.update(data: bytes) }

    /// The HMAC: 32 bytes. Compare with `ConstantTime.areEqual`.
    package var bytes: [UInt8] { Array(code.finalize()) }
}
