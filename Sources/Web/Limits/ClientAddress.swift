import Glibc
import NIOCore

/// An IP address, for limits that apply to each client.
struct ClientAddress: Hashable, Sendable {
    /// 4 bytes (IPv4) or 16 (IPv6). An IPv4 address mapped into IPv6 is an IPv4 address (RFC 4291, section 2.5.5.2).
    let bytes: [UInt8]

    /// Parses `192.0.2.1`, `2001:db8::1` and, as some proxies write them, `192.0.2.1:4711` and `[2001:db8::1]:4711`.
    init?(_ text: some StringProtocol) {
        var text = String(text)
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            text = String(text[text.index(after: text.startIndex)..<end])
        } else if text.contains("."), text.count(where: { $0 == ":" }) == 1 {
            text = String(text.prefix { $0 != ":" })
        }
        guard let bytes = Self.parse(text, AF_INET, 4) ?? Self.parse(text, AF_INET6, 16) else { return nil }
        let isMapped =
            bytes.count == 16 && bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        self.bytes = isMapped ? Array(bytes[12...]) : bytes
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// Converts the address of a peer. Returns `nil` for a peer of a Unix socket.
    init?(_ address: SocketAddress?) {
        guard let text = address?.ipAddress else { return nil }
        self.init(text)
    }

    private static func parse(_ text: String, _ family: Int32, _ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return inet_pton(family, text, &bytes) == 1 ? bytes : nil
    }

    /// Whether it is in 127.0.0.0/8 or is `::1`.
    var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }

    /// The part of the address that limits count: the whole of an IPv4 address, the first 64 bits of an IPv6 address. One site has all addresses
    /// with the same first 64 bits (RFC 6177).
    var network: ClientAddress {
        bytes.count == 4 ? self : ClientAddress(bytes: Array(bytes[..<8]) + [UInt8](repeating: 0, count: 8))
    }
}

/// Finds the client behind a connection or a request.
struct ClientResolver: Sendable {
    /// The addresses of the reverse proxies whose `X-Forwarded-For` is trusted.
    let proxies: Set<ClientAddress>

    init(proxies: [String] = []) { self.proxies = Set(proxies.compactMap { ClientAddress($0) }) }

    /// Returns the client that a connection is counted for.
    /// - Returns: `nil` if connections are not counted for each client: for peers of a Unix socket, for proxies, and on loopback, where the peer may
    ///   be a proxy that the settings do not name.
    func client(ofConnectionFrom peer: ClientAddress?) -> ClientAddress? {
        guard let peer, !peer.isLoopback, !proxies.contains(peer) else { return nil }
        return peer.network
    }

    /// Returns the client that a request is counted for.
    /// - Parameter forwarded: The values of `X-Forwarded-For`. Each proxy appends the address of its peer, so the last address that is not itself a
    ///   trusted proxy's is the client's. The client wrote everything before it, which is ignored.
    /// - Returns: `nil` if requests are not counted for each client.
    func client(ofRequestFrom peer: ClientAddress?, forwarded: [String]) -> ClientAddress? {
        guard let peer, proxies.contains(peer) else { return client(ofConnectionFrom: peer) }
        for text in forwarded.joined(separator: ",").split(separator: ",").reversed() {
            guard let address = ClientAddress(text.trimmingPrefix { $0 == " " }.prefix { $0 != " " }) else {
                return nil
            }
            if !proxies.contains(address) { return address.network }
        }
        return nil
    }
}
