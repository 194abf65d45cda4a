// The compiler attributes the declarations of <sys/socket.h> to the first of these modules that it reads.
import CLibCurl
import CLibGit2
import Glibc

/// Determines whether an address is in the public Internet. A URL in a commit must not lead to machines that only this network can reach.
enum PublicAddress {
    /// The blocks of IANA's special-purpose registries (RFC 6890) that are not globally reachable, and multicast.
    private static let privateBlocks: [(base: UInt32, bits: UInt32)] = [
        (0x0000_0000, 8), (0x0a00_0000, 8), (0x6440_0000, 10), (0x7f00_0000, 8), (0xa9fe_0000, 16), (0xac10_0000, 12),
        (0xc000_0000, 24), (0xc000_0200, 24), (0xc0a8_0000, 16), (0xc612_0000, 15), (0xc633_6400, 24),
        (0xcb00_7100, 24), (0xe000_0000, 4), (0xf000_0000, 4),
    ]

    static func contains(_ address: UnsafePointer<sockaddr>?) -> Bool {
        guard let address else { return false }
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                isPublic(UInt32(bigEndian: $0.pointee.sin_addr.s_addr))
            }
        case AF_INET6:
            return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                withUnsafeBytes(of: $0.pointee.sin6_addr) { isPublic(Array($0)) }
            }
        default: return false
        }
    }

    static func isPublic(_ address: UInt32) -> Bool {
        !privateBlocks.contains { address >> (32 - $0.bits) == $0.base >> (32 - $0.bits) }
    }

    /// Whether an IPv6 address is public.
    /// - Parameter address: The 16 bytes of the address.
    static func isPublic(_ address: [UInt8]) -> Bool {
        func embedded(at index: Int) -> Bool {
            isPublic(address[index..<index + 4].reduce(0) { $0 << 8 | UInt32($1) })
        }
        // Global unicast is 2000::/3. The rest is loopback, private, link-local, multicast or unassigned.
        guard address.count == 16 else { return false }
        // These contain an IPv4 address: ::ffff:0:0/96, and NAT64's 64:ff9b::/96.
        if address[..<10].allSatisfy({ $0 == 0 }), address[10] == 0xff, address[11] == 0xff { return embedded(at: 12) }
        if address[..<12].elementsEqual([0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0]) { return embedded(at: 12) }
        // 6to4, 2002::/16, contains an IPv4 address.
        if address[0] == 0x20, address[1] == 0x02 { return embedded(at: 2) }
        // Documentation, 2001:db8::/32, and Teredo, 2001::/32, which contains another address.
        if address.starts(with: [0x20, 0x01, 0x0d, 0xb8]) || address.starts(with: [0x20, 0x01, 0, 0]) { return false }
        return address[0] >> 5 == 1
    }
}
