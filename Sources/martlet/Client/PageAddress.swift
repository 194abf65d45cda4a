import Model

/// The address of a page or of an API resource of a service, as users copy it from their browser:
/// `https://ci.example/bots/kit/41/log/debug?attempt=2#L12`.
struct PageAddress: Hashable, Sendable {
    /// The service's address in the form of `Connection.normalized`, with the path of a proxy if any.
    let server: String
    let bot: String
    /// The integration's number; `nil` for a page of the bot.
    let number: Int?
    /// The configuration whose log the page shows, or a trigger's name with the prefix `_trigger-`; `nil` for other pages.
    let configuration: String?
    /// The attempt that the page shows; `nil` if the address names none.
    let attempt: Int?

    /// The longest address that is accepted, in bytes.
    private static let maximumLength = 2048

    /// Returns whether a text is meant as an address.
    static func isAddress(_ text: String) -> Bool {
        let start = text.prefix(8).lowercased()
        return start.hasPrefix("http://") || start.hasPrefix("https://")
    }

    /// Parses an address. What follows `#` is ignored.
    /// - Returns: `nil` if it is not the address of a bot's page.
    init?(_ text: String) {
        guard Self.isAddress(text), text.utf8.count <= Self.maximumLength,
            let scheme = text.firstRange(of: "://")
        else { return nil }
        let whole = text.prefix { $0 != "#" }
        let question = whole.firstIndex(of: "?") ?? whole.endIndex
        let query = whole[question...].dropFirst()
        let parts = whole[scheme.upperBound..<question].split(separator: "/").map(String.init)
        guard let authority = parts.first, !authority.isEmpty else { return nil }
        let path = parts.dropFirst()
        let places = path.indices.filter { path[$0] == "bots" && $0 + 1 < path.endIndex }
        let found = places.compactMap { place in Self.rest(path[(place + 1)...]).map { (place, $0) } }
        // The path of a proxy can contain `bots`, too. An address with a number is the more exact reading.
        guard let (place, rest) = found.first(where: { $0.1.number != nil }) ?? found.first else { return nil }
        var base = path[..<place]
        if base.suffix(2) == ["api", "v1"] { base = base.dropLast(2) }
        server = Connection.normalized(text[..<scheme.upperBound] + ([authority] + base).joined(separator: "/"))
        (bot, number, configuration) = rest
        attempt = query.split(separator: "&").first { $0.hasPrefix("attempt=") }.flatMap { Int($0.dropFirst(8)) }
    }

    /// Parses the path after `bots/`: `kit`, `kit/tests`, `kit/41`, `kit/41/log/debug`, `kit/integrations/41`.
    private static func rest(_ path: ArraySlice<String>) -> (bot: String, number: Int?, configuration: String?)? {
        guard let first = path.first, let bot = Name(first)?.description else { return nil }
        let rest = Array(path.dropFirst().first == "integrations" ? path.dropFirst(2) : path.dropFirst())
        guard let number = rest.first else { return (bot, nil, nil) }
        guard let id = IntegrationID("\(bot)#\(number)") else {
            // A page of the bot has a word. A number that is none must not become the latest integration.
            return number.first?.isLetter == true ? (bot, nil, nil) : nil
        }
        return (bot, id.number, rest.count > 2 && rest[1] == "log" ? rest[2] : nil)
    }

    /// Returns whether two addresses are those of one service. All names of this machine's loopback are the same.
    static func isSame(_ left: String, _ right: String) -> Bool {
        func plain(_ address: String) -> String {
            let address = Connection.normalized(address)
            for name in ["://127.0.0.1", "://[::1]"] {
                guard let range = address.firstRange(of: name) else { continue }
                let next = address[range.upperBound...].first
                if next == nil || next == ":" || next == "/" {
                    return address.replacing(name, with: "://localhost", maxReplacements: 1)
                }
            }
            return address
        }
        return plain(left) == plain(right)
    }

    /// Returns the address of an integration's page.
    static func page(of bot: String, _ number: Int, at server: String) -> String { "\(server)/bots/\(bot)/\(number)" }
}
