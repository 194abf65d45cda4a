import Basics
import Encodings
import Model
import TestSupport

/// A pack that git would not write, byte by byte (gitformat-pack(5)).
struct HostilePack {
    enum Kind: UInt8 { case commit = 1, tree = 2, blob = 3, offsetDelta = 6, delta = 7 }

    private(set) var bytes: [UInt8] = []

    /// Makes objects without a header.
    init() {}

    /// - Parameter objects: The number of objects that the header claims.
    init(objects: UInt32) {
        bytes = Array("PACK".utf8) + Self.bigEndian(2) + Self.bigEndian(objects)
    }

    /// - Parameters:
    ///   - size: The length when unpacked that the object's header claims.
    ///   - back: The distance from this object back to the base of a delta, in bytes.
    ///   - base: The id of a delta's base, 20 bytes.
    ///   - compressed: A complete zlib stream.
    mutating func add(_ kind: Kind, size: Int, back: Int? = nil, base: [UInt8] = [], compressed: [UInt8]) {
        var (rest, byte) = (size >> 4, kind.rawValue << 4 | UInt8(size & 15))
        while rest > 0 {
            bytes.append(byte | 0x80)
            (byte, rest) = (UInt8(rest & 0x7f), rest >> 7)
        }
        bytes.append(byte)
        if let back {
            // The most significant group is first; each continued group is one less.
            var groups = [UInt8(back & 0x7f)]
            var rest = back >> 7
            while rest > 0 {
                rest -= 1
                groups.insert(UInt8(rest & 0x7f) | 0x80, at: 0)
                rest >>= 7
            }
            bytes += groups
        }
        bytes += base + compressed
    }

    /// Returns the pack with its SHA-1 at the end.
    func sealed(in directory: TemporaryDirectory) async throws -> [UInt8] {
        let file = directory.path("unsealed.pack")
        try AtomicFile.write(bytes, to: file)
        let sum = try await runExpectingSuccess(["sha1sum", file]).prefix(40)
        return bytes + (Hexadecimal.decode(String(sum)) ?? [])
    }

    /// Returns a zlib stream (RFC 1950) of one stored block of at most 65,535 bytes.
    static func stored(_ content: [UInt8]) -> [UInt8] {
        let (low, high) = (UInt8(content.count & 0xff), UInt8(content.count >> 8))
        var (a, b): (UInt32, UInt32) = (1, 0)
        for byte in content {
            a = (a + UInt32(byte)) % 65521
            b = (b + a) % 65521
        }
        return [0x78, 0x01, 0x01, low, high, ~low, ~high] + content + bigEndian(b << 16 | a)
    }

    /// Returns a zlib stream of zeros, of a thousandth of their length.
    static func zeros(_ count: Int, in directory: TemporaryDirectory) async throws -> [UInt8] {
        let file = directory.path("zeros.gz")
        try await runExpectingSuccess(["sh", "-c", "head -c \(count) /dev/zero | gzip -9n > \(file)"])
        let gzip = try WholeFile.read(file, limit: 1 << 30)
        // RFC 1952: ten bytes of header without a name, at the end the sum and the length.
        let sum = UInt32(count % 65521) << 16 | 1
        return [0x78, 0xda] + gzip.dropFirst(10).dropLast(8) + bigEndian(sum)
    }

    private static func bigEndian(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(value >> (24 - 8 * $0) & 0xff) } }
}
