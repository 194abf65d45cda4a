/// The address under which a browser sees the service, for cookies and for addresses that others return to.
struct RequestPlace: Sendable, Hashable {
    /// Whether the browser's connection has TLS, as far as the service knows.
    let isSecure: Bool
    /// Whether the browser is on this machine.
    let isLoopback: Bool
    /// The service's root there, without a slash at its end.
    let root: String

    /// Whether a browser can have a session here.
    var keepsSessions: Bool { isSecure || isLoopback }

    /// Returns the name of a cookie. With `__Host-`, a browser accepts it only over https and for this one host (RFC 6265bis, section 4.1.3.2).
    /// - Returns: `nil` over plain http from another machine, where everybody on the way could take the cookie.
    func cookie(_ name: String) -> String? { isSecure ? "__Host-\(name)" : isLoopback ? name : nil }
}

extension RequestPlace {
    /// The reason why a browser cannot sign in over plain http.
    static let plainReason =
        "Signing in needs https, or a browser on the service's own machine: over plain http everybody on the way could take the session. "
        + "Open the service's https address; `url` of its settings names it."
}

/// A path of this service to which a browser is sent back.
enum OwnPath {
    /// The longest path with its query, in bytes.
    static let maximumBytes = 2000

    /// Returns a path that leads to this service alone; `nil` for every other text.
    ///
    /// `//host` and `/\host` are addresses of other hosts to a browser, which also drops tabs and line ends (WHATWG URL, section 4.4).
    static func checked(_ text: String?) -> String? {
        guard let text, text.utf8.count <= maximumBytes, text.hasPrefix("/"), !text.hasPrefix("//"),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") })
        else { return nil }
        return text
    }
}
