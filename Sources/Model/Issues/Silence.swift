/// A user's statement that an issue is known and should be muted.
package struct Silence: Hashable, Sendable, Codable {
    package var reason: String
    /// The user's name: a token's name, or the user at the Unix socket.
    package var person: String
    package var at: Timestamp
    /// When the mute ends; `nil` means that it lasts until it is removed.
    package var expires: Timestamp?

    /// The size limit of the reason in bytes.
    package static let maximumReasonBytes = 1000
    /// The longest duration of a mute with an end. A longer one should have no end.
    package static let longest: Duration = .seconds(10 * 366 * 86_400)

    package init(reason: String, person: String, at: Timestamp, expires: Timestamp? = nil) {
        self.reason = reason
        self.person = person
        self.at = at
        self.expires = expires
    }

    /// Whether the mute is in effect at a time.
    package func holds(at time: Timestamp) -> Bool { expires.map { time < $0 } ?? true }
}
