/// A mailbox: an address, and the name of whose it is (RFC 5322, section 3.4).
package struct MailAddress: Hashable, Sendable, Codable, CustomStringConvertible {
    /// As written; anybody's text, to be encoded before it stands in a header.
    package var name: String?
    /// `local@domain` in printable ASCII; see `isAddress(_:)`.
    package var address: String

    /// The longest address in bytes (RFC 5321, section 4.5.3.1.3, erratum 1690), and its local part (4.5.3.1.1).
    package static let maximumBytes = 254
    private static let maximumLocal = 64

    /// - Returns: Nothing when the address is none.
    package init?(name: String? = nil, address: String) {
        guard Self.isAddress(address) else { return nil }
        self.name = name
        self.address = address
    }

    /// Reads `ci@acme.example` or `Martlet <ci@acme.example>`; the name may stand in quotes.
    package init?(_ text: String) {
        guard text.hasSuffix(">"), let open = text.lastIndex(of: "<") else {
            self.init(address: text)
            return
        }
        var name = text[..<open]
        while name.last == " " { name.removeLast() }
        if name.count >= 2, name.hasPrefix("\""), name.hasSuffix("\"") { name = name.dropFirst().dropLast() }
        // Which of several brackets are meant is for nobody to guess.
        guard !name.contains(where: { $0 == "<" || $0 == ">" }) else { return nil }
        let address = text[text.index(after: open)...].dropLast()
        self.init(name: name.isEmpty ? nil : String(name), address: String(address))
    }

    /// What comes after the `@`, in lower case.
    package var domain: String {
        address.lastIndex(of: "@").map { address[address.index(after: $0)...].lowercased() } ?? ""
    }

    /// Whether it is an address that every mail server takes: a dot-atom, `@`, a host's name. Quoted local parts, comments,
    /// addresses of hosts and what is not ASCII are left out: nobody's mailbox needs them, and they are read in different ways.
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

    /// As `init(_:)` reads it.
    package var description: String { name.map { "\($0) <\(address)>" } ?? address }
}
