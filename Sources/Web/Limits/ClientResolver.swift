import Model
import NIOCore

extension IPAddress {
    /// Converts the address of a peer. Returns `nil` for a peer of a Unix socket.
    init?(_ address: SocketAddress?) {
        guard let text = address?.ipAddress else { return nil }
        self.init(text)
    }

    /// Parses an address of `X-Forwarded-For`: as some proxies write it, with a port, `192.0.2.1:4711` and `[2001:db8::1]:4711`, or without.
    init?(forwarded text: some StringProtocol) {
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            self.init(text[text.index(after: text.startIndex)..<end])
        } else if text.contains("."), text.count(where: { $0 == ":" }) == 1 {
            self.init(text.prefix { $0 != ":" })
        } else {
            self.init(text)
        }
    }
}

/// Finds the client behind a connection or a request.
struct ClientResolver: Sendable {
    /// The addresses of the reverse proxies whose `X-Forwarded-For` is trusted.
    let proxies: Set<IPAddress>

    init(proxies: [String] = []) { self.proxies = Set(proxies.compactMap { IPAddress($0) }) }

    /// Returns the client that a connection is counted for.
    /// - Returns: `nil` if connections are not counted for each client: for peers of a Unix socket, for proxies, and on loopback, where the peer may
    ///   be a proxy that the settings do not name.
    func client(ofConnectionFrom peer: IPAddress?) -> IPAddress? {
        guard let peer, !peer.isLoopback, !proxies.contains(peer) else { return nil }
        return peer.network
    }

    /// Returns the address of the client that a request comes from, for logs and the audit: through a trusted proxy the one that the proxy names.
    /// - Returns: `nil` for a peer of the Unix socket.
    func origin(ofRequestFrom peer: IPAddress?, forwarded: [String]) -> IPAddress? {
        guard let peer, proxies.contains(peer) else { return peer }
        // What a proxy cannot have written says nothing about the client.
        return named(in: forwarded) ?? peer
    }

    /// Returns the client that a request is counted for.
    /// - Parameter forwarded: The values of `X-Forwarded-For`. Each proxy appends the address of its peer, so the last address that is not itself a
    ///   trusted proxy's is the client's. The client wrote everything before it, which is ignored.
    /// - Returns: `nil` if requests are not counted for each client.
    func client(ofRequestFrom peer: IPAddress?, forwarded: [String]) -> IPAddress? {
        guard let peer, proxies.contains(peer) else { return client(ofConnectionFrom: peer) }
        return named(in: forwarded)?.network
    }

    private func named(in forwarded: [String]) -> IPAddress? {
        for text in forwarded.joined(separator: ",").split(separator: ",").reversed() {
            guard let address = IPAddress(forwarded: text.trimmingPrefix { $0 == " " }.prefix { $0 != " " }) else {
                return nil
            }
            if !proxies.contains(address) { return address }
        }
        return nil
    }
}
