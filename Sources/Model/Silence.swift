/// A person's word that an issue is known and need not be told again.
package struct Silence: Hashable, Sendable, Codable {
    package var reason: String
    /// A token's name, or the user at the unix socket.
    package var person: String
    package var at: Timestamp
    /// From when on it holds no longer; nothing: until it is taken back.
    package var expires: Timestamp?

    /// The longest reason, in bytes.
    package static let maximumReasonBytes = 1000
    /// The farthest end: what is silenced for longer is silenced for ever, and should say so.
    package static let longest: Duration = .seconds(10 * 366 * 86_400)

    package init(reason: String, person: String, at: Timestamp, expires: Timestamp? = nil) {
        self.reason = reason
        self.person = person
        self.at = at
        self.expires = expires
    }

    /// Whether it holds at a time.
    package func holds(at time: Timestamp) -> Bool { expires.map { time < $0 } ?? true }
}
