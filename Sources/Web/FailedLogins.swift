import Glibc
import Model
import NIOCore
import Synchronization

/// Counts tokens that are not known, by the address that sends them: after 200 an address is told to wait.
///
/// A token that is known is taken whatever its address sent before, so that nobody can keep others away who come from the same address, such as
/// all that come through a proxy on this machine. Guessing is hopeless (a token has 256 random bits); what is limited is the load and the log.
final class FailedLogins: Sendable {
    /// At once from one address.
    static let limit = 200
    /// After which an address that used them up has one more.
    static let refill: Duration = .seconds(3)
    /// Addresses that are remembered; beyond them the one that has failed least recently is forgotten.
    static let maximumAddresses = 4096

    private struct Entry {
        /// When all that was used is given back.
        var full: Timestamp
    }

    private let entries = Mutex<[String: Entry]>([:])

    /// How many addresses are remembered.
    var count: Int { entries.withLock { $0.count } }

    /// Counts a failure.
    /// - Returns: `nil`, or how long the address has to wait for its next.
    func fail(from address: String, at now: Timestamp) -> Duration? {
        entries.withLock { entries in
            let most = now + Self.refill * Self.limit
            // Never beyond that, also where the clock was set back.
            let full = min(max(entries[address]?.full ?? now, now), most)
            let next = full + Self.refill
            // Not counted, so that who goes on does not wait ever longer.
            guard next <= most else { return next - most }
            if entries[address] == nil, entries.count >= Self.maximumAddresses { Self.makeRoom(&entries, at: now) }
            entries[address] = Entry(full: next)
            return nil
        }
    }

    /// Those that have all back go, else the one that has the most.
    private static func makeRoom(_ entries: inout [String: Entry], at now: Timestamp) {
        entries = entries.filter { $0.value.full > now }
        guard entries.count >= maximumAddresses,
            let least = entries.min(by: { $0.value.full < $1.value.full })
        else { return }
        entries[least.key] = nil
    }

    /// The address that a connection comes from; of IPv6 its network of 64 bits, all of which one machine can have.
    static func address(of channel: any Channel) -> String { channel.remoteAddress.map(address) ?? "" }

    static func address(_ address: SocketAddress) -> String {
        guard case .v6(let v6) = address else { return address.ipAddress ?? "" }
        // sockaddr_in6 of ipv6(7): family, port and flow are 8 bytes before the address.
        let bytes = withUnsafeBytes(of: v6.address) { Array($0[8..<24]) }
        // An IPv4 address, on a socket that takes both.
        let isMapped = bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        if isMapped { return bytes.suffix(4).map(String.init).joined(separator: ".") }
        return bytes.prefix(8).map { String($0, radix: 16) }.joined(separator: ":") + "/64"
    }
}
