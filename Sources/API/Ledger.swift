/// An event that was received, with its outcome.
package struct Delivery: Codable, Hashable, Sendable {
    /// The forge's id of the delivery, or a number if the forge gave none.
    package var id: String
    /// Where it came from, such as `webhook`.
    package var source: String
    /// The hook that it was sent to.
    package var hook: String
    /// The forge's name of the event.
    package var event: String
    /// When it was received.
    package var received: Time
    /// The outcome, such as `integrated`, `ignored` or `pending`.
    package var fate: String
    /// The reason for the outcome; `nil` if it explains itself.
    package var reason: String?
    /// The movements of refs that it announced, or that the scan found that it requested.
    package var refUpdates: [RefUpdate]

    /// Creates a value from all its properties.
    package init(
        id: String, source: String, hook: String, event: String, received: Time, fate: String, reason: String?,
        refUpdates: [RefUpdate]
    ) {
        self.id = id
        self.source = source
        self.hook = hook
        self.event = event
        self.received = received
        self.fate = fate
        self.reason = reason
        self.refUpdates = refUpdates
    }
}

/// A movement of a ref that a scan saw.
package struct RefUpdate: Codable, Hashable, Sendable {
    /// The full name of the ref.
    package var ref: String
    /// The number of the ref's update, counted from 1.
    package var generation: Int
    /// The commit before; `nil` if the ref did not exist.
    package var before: String?
    /// The commit after; `nil` if the ref is gone.
    package var after: String?
    /// The outcome, such as `integrated`, `superseded` or `ignored`.
    package var fate: String
    /// The reason for the outcome; `nil` if it explains itself.
    package var reason: String?
    /// The integrations that it caused, such as `kit#41`: at most one for each bot.
    package var integrations: [String]

    /// Creates a value from all its properties.
    package init(
        ref: String, generation: Int, before: String?, after: String?, fate: String, reason: String?,
        integrations: [String]
    ) {
        self.ref = ref
        self.generation = generation
        self.before = before
        self.after = after
        self.fate = fate
        self.reason = reason
        self.integrations = integrations
    }
}

/// The answer to a signed push.
package struct PushAcceptance: Codable, Hashable, Sendable {
    /// The id of the delivery.
    package var delivery: String
    /// Whether the same delivery was received before.
    package var duplicate: Bool

    /// Creates a value from all its properties.
    package init(delivery: String, duplicate: Bool) {
        self.delivery = delivery
        self.duplicate = duplicate
    }
}

/// The answer to a forge's webhook.
package struct WebhookAcceptance: Codable, Hashable, Sendable {
    /// The id of the delivery.
    package var delivery: String
    /// Whether the same delivery was received before.
    package var duplicate: Bool
    /// Why the event has no consequence; `nil` if it has one.
    package var ignored: String?

    /// Creates a value from all its properties.
    package init(delivery: String, duplicate: Bool, ignored: String?) {
        self.delivery = delivery
        self.duplicate = duplicate
        self.ignored = ignored
    }
}
