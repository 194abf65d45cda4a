import Model

/// The host names to which the service answers.
///
/// A browser sends the host of a page's address. Another site can point its own name at this machine ("DNS rebinding"); its page could then read a
/// service on loopback as its own. Foreign names are therefore refused. An IP address is never such a name.
struct ServedHosts: Sendable {
    /// The names, in lower case.
    private let names: Set<String>
    private let addresses: Set<IPAddress>
    /// Whether it listens on every address of the machine; a proxy or a container's network may use further addresses.
    private let isEveryAddress: Bool
    /// The origin of `url`, such as `https://ci.acme.example:8443`; empty if it is unknown.
    private let origin: String

    init(_ configuration: WebConfiguration) {
        let url = Self.origin(configuration.url)
        let hosts =
            configuration.listen.map(\.host) + configuration.hosts
            + [url.map { String($0.authority) }, "localhost"].compactMap(\.self)
        // The settings write an IPv6 address without brackets.
        let known = hosts.compactMap { host in
            Self.host(!host.hasPrefix("[") && host.utf8.count { $0 == UInt8(ascii: ":") } > 1 ? "[\(host)]" : host)
        }
        names = Set(known)
        addresses = Set(known.compactMap { IPAddress($0) })
        isEveryAddress = configuration.listen.contains { ["0.0.0.0", "::"].contains($0.host) }
        origin = url.map { "\($0.scheme)://\($0.authority)" } ?? ""
    }

    /// Checks the host of a request.
    /// - Parameter authority: The `Host` header; `nil` if there is none, which only HTTP/1.0 allows and no browser sends.
    /// - Returns: `nil` if the host is served; else 400 or 421 (RFC 9110, section 15.5.20).
    func refusal(of authority: String?) -> Problem? {
        guard let authority else { return nil }
        guard let host = Self.host(authority) else {
            return Problem(400, "The Host header names no host.")
        }
        return serves(host: host)
            ? nil
            : Problem(
                421,
                "This service is not known as \(host). Ask for it by its own address, or add the name to `url` or `hosts` in its settings."
            )
    }

    /// Returns whether a request that names this host may be answered.
    func serves(_ authority: String?) -> Bool { refusal(of: authority) == nil }

    /// Returns whether a page of this origin may read what is not public, because it is this service's own page.
    /// - Parameters:
    ///   - origin: The `Origin` header (RFC 6454).
    ///   - authority: The `Host` header.
    func isOwn(origin: String, authority: String?) -> Bool {
        guard let (scheme, host) = Self.origin(origin) else { return false }
        if "\(scheme)://\(host)" == self.origin { return true }
        return authority.map { $0.lowercased() == host } ?? false
    }

    /// Returns the address under which the browser that sent a request sees the service.
    /// - Parameters:
    ///   - authority: The `Host` header.
    ///   - isThroughProxy: Whether a trusted proxy sent the request.
    ///   - scheme: The `X-Forwarded-Proto` of that proxy; `nil` if it states none.
    ///   - base: The path of the service's root; empty: none.
    func place(authority: String?, isThroughProxy: Bool, scheme: String?, base: String) -> RequestPlace {
        let stated = scheme?.split(separator: ",").last?.trimmingPrefix { $0 == " " }.lowercased()
        // A proxy may ask for the service by another name than browsers ask the proxy.
        if isThroughProxy, origin.hasPrefix("https://"), stated != "http" {
            return RequestPlace(isSecure: true, isLoopback: false, root: origin + base)
        }
        let authority = authority?.lowercased() ?? ""
        let isSecure = stated == "https" || origin == "https://\(authority)"
        let isLoopback =
            Self.host(authority).map { $0 == "localhost" || IPAddress($0)?.isLoopback == true } ?? false
        return RequestPlace(
            isSecure: isSecure, isLoopback: isLoopback, root: "\(isSecure ? "https" : "http")://\(authority)\(base)")
    }

    private func serves(host: String) -> Bool {
        if names.contains(host) { return true }
        guard let address = IPAddress(host) else { return false }
        return isEveryAddress || address.isLoopback || addresses.contains(address)
    }

    /// Returns the host of `HOST`, `HOST:PORT` or `[ADDRESS]:PORT`, in lower case, without a final dot; `nil` if the text has another form.
    private static func host(_ authority: String) -> String? {
        guard authority.utf8.count <= 300 else { return nil }
        var host = authority[...]
        if host.first == "[" {
            guard let end = host.lastIndex(of: "]"), isPort(host[host.index(after: end)...]) else { return nil }
            host = host[host.index(after: host.startIndex)..<end]
            return IPAddress(host) == nil ? nil : host.lowercased()
        }
        if let colon = host.firstIndex(of: ":") {
            guard isPort(host[colon...]) else { return nil }
            host = host[..<colon]
        }
        if host.last == "." { host = host.dropLast() }
        let isPlain = host.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || "-._".utf8.contains(byte)
        }
        return host.isEmpty || !isPlain ? nil : host.lowercased()
    }

    /// Returns whether a text is empty, or a colon and at most five digits, possibly none (RFC 3986, section 3.2.3).
    private static func isPort(_ text: Substring) -> Bool {
        text.isEmpty
            || text.first == ":" && text.utf8.count <= 6
                && text.utf8.dropFirst().allSatisfy { (0x30...0x39).contains($0) }
    }

    /// Returns scheme and authority of a URL, both in lower case, without the path; `nil` if it is not an HTTP URL.
    private static func origin(_ url: String) -> (scheme: String, authority: String)? {
        guard let range = url.firstRange(of: "://") else { return nil }
        let scheme = url[..<range.lowerBound].lowercased()
        let authority = url[range.upperBound...].prefix { $0 != "/" }.lowercased()
        guard ["http", "https"].contains(scheme), host(authority) != nil else { return nil }
        return (scheme, authority)
    }
}
