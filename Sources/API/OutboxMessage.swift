/// A message to another system.
package struct OutboxMessage: Codable, Hashable, Sendable {
    /// The number, which `retry` takes.
    package var id: Int64
    /// The kind of destination, such as `status` or `mail`.
    package var kind: String
    /// The destination's name.
    package var destination: String
    /// The bot.
    package var bot: String
    /// The integration, such as `kit#41`; `nil` if a commit was skipped.
    package var integration: String?
    /// The job; `nil` if the message is about the whole integration.
    package var job: String?
    /// The content in a word, such as `queued` or `test-failures`.
    package var about: String
    /// The commit.
    package var commit: String
    /// The full name of the ref.
    package var ref: String
    /// `waiting`, `sending`, `sent`, `superseded`, `unneeded` or `given-up`.
    package var state: String
    /// The number of tries that have begun.
    package var tries: Int
    /// When it is tried next; `nil` unless it waits.
    package var next: Time?
    /// The result of the last try; `nil` if there was none.
    package var note: String?
    /// When it was stored.
    package var created: Time
    /// When it was sent or ended otherwise; `nil` until then.
    package var ended: Time?

    /// Creates a value from all its properties.
    package init(
        id: Int64, kind: String, destination: String, bot: String, integration: String?, job: String?, about: String,
        commit: String, ref: String, state: String, tries: Int, next: Time?, note: String?, created: Time, ended: Time?
    ) {
        self.id = id
        self.kind = kind
        self.destination = destination
        self.bot = bot
        self.integration = integration
        self.job = job
        self.about = about
        self.commit = commit
        self.ref = ref
        self.state = state
        self.tries = tries
        self.next = next
        self.note = note
        self.created = created
        self.ended = ended
    }
}
