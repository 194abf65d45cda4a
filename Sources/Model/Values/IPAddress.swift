import Glibc

/// An IPv4 or IPv6 address. An IPv4 address mapped into IPv6 is an IPv4 address (RFC 4291, section 2.5.5.2).
package struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// 4 bytes (IPv4) or 16 (IPv6).
    package let bytes: [UInt8]

    /// Parses `192.0.2.1` and `2001:db8::1`, as inet_pton(3) does.
    /// - Returns: `nil` for other texts, also for an address with a port, brackets or a zone.
    package init?(_ text: some StringProtocol) {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, String(text), &bytes) == 1 {
            self.bytes = Array(bytes.prefix(4))
            return
        }
        guard inet_pton(AF_INET6, String(text), &bytes) == 1 else { return nil }
        let isMapped = bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        self.bytes = isMapped ? Array(bytes.suffix(4)) : bytes
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// The address as text, such as `192.0.2.1` and `2001:db8::1` (inet_ntop(3)).
    package var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        _ = inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Whether it is in 127.0.0.0/8 or is `::1`.
    package var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }

    /// The part of the address that limits count: the whole of an IPv4 address, the first 64 bits of an IPv6 address. One site has all addresses
    /// with the same first 64 bits (RFC 6177).
    package var network: IPAddress {
        bytes.count == 4 ? self : IPAddress(bytes: Array(bytes[..<8]) + [UInt8](repeating: 0, count: 8))
    }
}
