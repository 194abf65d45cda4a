/// Who a mail is from and for, as servers on its way see it (RFC 5321, section 2.3.1). One recipient a mail: what becomes of it is
/// then said of that one, and an address that is refused holds up no other.
package struct MailEnvelope: Sendable, Hashable {
    /// Where a server reports what it could not deliver.
    package var sender: String
    package var recipient: String

    /// The longest address in bytes (RFC 5321, section 4.5.3.1.3, erratum 1690).
    static let maximumAddress = 254

    /// - Parameters: Addresses alone, without names and angle brackets.
    package init(from sender: String, to recipient: String) {
        self.sender = sender
        self.recipient = recipient
    }

    /// Whether an address can stand between angle brackets in a command: printable ASCII, nothing that ends or divides it.
    static func isSafe(_ address: String) -> Bool {
        (3...maximumAddress).contains(address.utf8.count) && address.utf8.contains(UInt8(ascii: "@"))
            && address.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"<>()[]\\,;:\"".utf8.contains($0) }
    }
}
