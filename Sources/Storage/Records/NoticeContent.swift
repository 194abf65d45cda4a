package import Model

/// What a message of a notice tells; see `Transition`.
package struct NoticeContent: Hashable, Sendable, Codable {
    /// The notice's.
    package var name: Name
    package var transition: Transition
    /// The mailbox that is told; nothing for a webhook.
    package var recipient: String?
    /// What broke the branch that is fixed now.
    package var brokenBy: Standing.Run?
    /// Of what was published.
    package var product: Name?
    /// How many more there were than a message is sent to.
    package var leftOut: Int?

    package init(
        name: Name, transition: Transition, recipient: String? = nil, brokenBy: Standing.Run? = nil,
        product: Name? = nil
    ) {
        self.name = name
        self.transition = transition
        self.recipient = recipient
        self.brokenBy = brokenBy
        self.product = product
    }
}
