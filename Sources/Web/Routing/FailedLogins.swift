import Model
import Synchronization

/// Counts unknown tokens by the address that sends them: after 200, the address has to wait.
///
/// Known tokens always work, so nobody can lock out other clients of the same address, such as all clients of a proxy on this machine. Guessing is
/// hopeless (a token has 256 random bits); this limits the load and the log.
final class FailedLogins: Sendable {
    /// The failures that an address may have at once.
    static let limit = 200
    /// The time after which an address may have one more failure.
    static let refill: Duration = .seconds(3)
    /// The most addresses that are recorded; beyond them the one whose last failure is oldest is forgotten.
    static let maximumAddresses = 4096

    private struct Entry {
        /// When all of the address's failures are forgotten.
        var full: Timestamp
    }

    private let entries = Mutex<[IPAddress?: Entry]>([:])

    /// The number of recorded addresses.
    var count: Int { entries.withLock { $0.count } }

    /// Counts a failed login.
    /// - Parameter address: The client's `network`; `nil` stands for all peers without an address.
    /// - Returns: `nil` if it was counted; otherwise the time that the address must wait before its next attempt.
    func fail(from address: IPAddress?, at now: Timestamp) -> Duration? {
        entries.withLock { entries in
            let most = now + Self.refill * Self.limit
            // Never beyond that, even if the clock was set back.
            let full = min(max(entries[address]?.full ?? now, now), most)
            let next = full + Self.refill
            // Not counted, so that a client that continues does not wait ever longer.
            guard next <= most else { return next - most }
            if entries[address] == nil, entries.count >= Self.maximumAddresses { Self.makeRoom(&entries, at: now) }
            entries[address] = Entry(full: next)
            return nil
        }
    }

    /// Counts a failed sign-in.
    /// - Returns: The problem; 429 for an address that fails repeatedly.
    func problem(_ problem: Problem, from address: IPAddress?, at now: Timestamp) -> Problem {
        guard let wait = fail(from: address, at: now) else { return problem }
        var problem = Problem(
            429, "Too many tokens from this address were not known here; wait, or correct the token.")
        problem.retryAfter = max(1, wait.components.seconds)
        return problem
    }

    /// Removes the addresses without failures. If there are none, it removes the address that is closest to having none.
    private static func makeRoom(_ entries: inout [IPAddress?: Entry], at now: Timestamp) {
        entries = entries.filter { $0.value.full > now }
        guard entries.count >= maximumAddresses,
            let least = entries.min(by: { $0.value.full < $1.value.full })
        else { return }
        entries.removeValue(forKey: least.key)
    }
}
