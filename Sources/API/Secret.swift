/// A secret that is stored or named, without its value.
package struct Secret: Codable, Hashable, Sendable {
    /// The name.
    package var name: String
    /// Where the value is: `stored` in the settings' directory, `credential` of systemd, or `missing`.
    package var state: String
    /// When its file was changed last; `nil` if it is missing.
    package var changed: Time?
    /// Until when webhooks may be signed with the value before a rotation; `nil` if that is not accepted.
    package var overlapEnds: Time?
    /// Why its value cannot be read; `nil` if it can be, and if it is missing.
    package var problem: String?
    /// Whether webhooks are signed with it, so that a rotation can have an overlap.
    package var isOfWebhook: Bool
    /// What uses it, in words: keys of the settings, parts of bots, and steps of recipes as far as they are known.
    package var uses: [String]

    /// Creates a value from all its properties.
    package init(
        name: String, state: String, changed: Time?, overlapEnds: Time?, problem: String?, isOfWebhook: Bool,
        uses: [String]
    ) {
        (self.name, self.state, self.changed, self.overlapEnds) = (name, state, changed, overlapEnds)
        (self.problem, self.isOfWebhook, self.uses) = (problem, isOfWebhook, uses)
    }
}

/// A change of a secret that a command made on the service's machine.
package struct SecretChange: Codable, Hashable, Sendable {
    /// `stored`, `removed`, `rotated` or `overlap-ended`.
    package var change: String
    /// Until when the value before is accepted; `nil` if it is not.
    package var overlapEnds: Time?

    /// Creates a value from all its properties.
    package init(change: String, overlapEnds: Time? = nil) {
        (self.change, self.overlapEnds) = (change, overlapEnds)
    }
}
