package import Model

/// The content of a notice's message; see `Transition`.
package struct NoticeContent: Hashable, Sendable, Codable {
    /// The notice's name.
    package var name: Name
    package var transition: Transition
    /// The mailbox that receives the message; `nil` for a webhook.
    package var recipient: String?
    /// The run that broke the branch, if it is fixed now.
    package var brokenBy: Standing.Run?
    /// The published product.
    package var product: Name?
    /// The number of recipients left out because there were too many; `nil` if none.
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
