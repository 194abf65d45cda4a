/// A mailbox: an address and the name of its owner (RFC 5322, section 3.4).
package struct MailAddress: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The name as written. It can be any text, and must be encoded before it is put in a header.
    package var name: String?
    /// `local@domain` in printable ASCII; see `isAddress(_:)`.
    package var address: String

    /// The size limit of an address in bytes (RFC 5321, section 4.5.3.1.3, erratum 1690), and of its local part (4.5.3.1.1).
    package static let maximumBytes = 254
    private static let maximumLocal = 64

    /// Creates a mailbox.
    /// - Returns: `nil` if `address` is not an address.
    package init?(name: String? = nil, address: String) {
        guard Self.isAddress(address) else { return nil }
        self.name = name
        self.address = address
    }

    /// Parses `ci@acme.example` or `Martlet <ci@acme.example>`. The name may be in quotes.
    /// - Returns: `nil` if the text is not a mailbox.
    package init?(_ text: String) {
        guard text.hasSuffix(">"), let open = text.lastIndex(of: "<") else {
            self.init(address: text)
            return
        }
        var name = text[..<open]
        while name.last == " " { name.removeLast() }
        if name.count >= 2, name.hasPrefix("\""), name.hasSuffix("\"") { name = name.dropFirst().dropLast() }
        // With several brackets the address is ambiguous.
        guard !name.contains(where: { $0 == "<" || $0 == ">" }) else { return nil }
        let address = text[text.index(after: open)...].dropLast()
        self.init(name: name.isEmpty ? nil : String(name), address: String(address))
    }

    /// The part after the `@`, in lower case.
    package var domain: String {
        address.lastIndex(of: "@").map { address[address.index(after: $0)...].lowercased() } ?? ""
    }

    /// Whether a text is an address that every mail server accepts: a dot-atom, `@`, and a host name. Refused are quoted local parts, comments, host
    /// addresses and characters outside ASCII. Mailboxes do not need them, and programs parse them differently.
    package static func isAddress(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard text.utf8.count <= maximumBytes, parts.count == 2, (1...maximumLocal).contains(parts[0].count) else {
            return false
        }
        let atoms = parts[0].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let labels = parts[1].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return atoms.allSatisfy {
            !$0.isEmpty && $0.allSatisfy { isAlphanumeric($0) || "!#$%&'*+-/=?^_`{|}~".utf8.contains($0) }
        }
            && labels.allSatisfy { label in
                (1...63).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
                    && label.allSatisfy { isAlphanumeric($0) || $0 == UInt8(ascii: "-") }
            }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }

    /// The text that `init(_:)` parses.
    package var description: String { name.map { "\($0) <\(address)>" } ?? address }
}
