/// The sender and the recipient of a mail, as the servers on its way see them (RFC 5321, section 2.3.1). A mail has one recipient, so that its result
/// is for that one, and a refused address does not affect other recipients.
package struct MailEnvelope: Sendable, Hashable {
    /// The address to which servers report mails that they cannot deliver.
    package var sender: String
    package var recipient: String

    /// The size limit of an address in bytes (RFC 5321, section 4.5.3.1.3, erratum 1690).
    static let maximumAddress = 254

    /// Creates an envelope of two addresses, without names and angle brackets.
    package init(from sender: String, to recipient: String) {
        self.sender = sender
        self.recipient = recipient
    }

    /// Whether an address can be used between angle brackets in a command: printable ASCII, without characters that end or divide it.
    static func isSafe(_ address: String) -> Bool {
        (3...maximumAddress).contains(address.utf8.count) && address.utf8.contains(UInt8(ascii: "@"))
            && address.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"<>()[]\\,;:\"".utf8.contains($0) }
    }
}
