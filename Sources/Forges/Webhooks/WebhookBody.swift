import Basics

/// A webhook's body as received. It is in memory, or, if it is large, in a file that is read in pieces.
package struct WebhookBody: Sendable {
    private enum Storage: Sendable {
        case bytes([UInt8])
        case file(read: @Sendable (_ offset: Int, _ count: Int) throws -> [UInt8])
    }

    /// The size of a piece, in bytes.
    private static let pieceBytes = 256 << 10

    private let storage: Storage
    package let count: Int

    package init(_ bytes: [UInt8]) { (storage, count) = (.bytes(bytes), bytes.count) }

    /// - Parameter read: Returns `count` bytes from `offset` on. It may block.
    package init(count: Int, read: @escaping @Sendable (_ offset: Int, _ count: Int) throws -> [UInt8]) {
        (storage, self.count) = (.file(read: read), count)
    }

    /// Returns the complete body. Blocks.
    /// - Throws: `.unavailable` if it cannot be read.
    package func bytes() throws(ForgeError) -> [UInt8] {
        if case .bytes(let bytes) = storage { return bytes }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        try forEachPiece { bytes += $0 }
        return bytes
    }

    /// Returns the HMAC-SHA256 over `prefix` and the body, without loading the body into memory. Blocks.
    /// - Throws: `.unavailable` if it cannot be read.
    package func authenticationCode(key: [UInt8], prefix: [UInt8] = []) throws(ForgeError) -> [UInt8] {
        var code = MessageAuthentication(key: key)
        code.update(prefix)
        try forEachPiece { code.update($0) }
        return code.bytes
    }

    private func forEachPiece(_ take: ([UInt8]) -> Void) throws(ForgeError) {
        switch storage {
        case .bytes(let bytes): take(bytes)
        case .file(let read):
            for offset in stride(from: 0, to: count, by: Self.pieceBytes) {
                let length = min(Self.pieceBytes, count - offset)
                do {
                    let piece = try read(offset, length)
                    guard piece.count == length else { throw Truncated() }
                    take(piece)
                } catch {
                    throw ForgeError(.unavailable, "the body could not be read; send it again", underlying: error)
                }
            }
        }
    }

    private struct Truncated: Error {}
}
