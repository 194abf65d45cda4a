/// The address of a repository. It is parsed only here, for every part of the service: bot files, `martlet lint`, submodules, the interface and git.
/// No two parts can therefore read the same text differently.
///
/// Allowed are `https://`, `ssh://`, `user@host:path`, and an absolute local path. `http://` and `git://` are allowed only if the operator stated
/// `insecure: true`. Among others, the following are refused:
///
/// - other schemes in any case (`ext::`, `file://`)
/// - hosts, users and paths that begin with `-` (CVE-2017-1000117)
/// - passwords
/// - control characters, raw or percent-encoded (CVE-2020-5260)
/// - characters that hide or reorder text
/// - hosts that are not ASCII
/// - `..` components
package struct RepositoryAddress: Sendable, Hashable, CustomStringConvertible {
    /// The kinds of addresses. `ssh` includes `user@host:path`; `path` is an absolute path on this machine.
    package enum Kind: String, Sendable { case https, http, ssh, git, path }

    /// The longest address in bytes.
    package static let maximumLength = 2048

    /// The address with scheme and host in lower case.
    package let description: String
    package let kind: Kind
    /// The account in the address, if it names one.
    package let user: String?
    /// The host; `nil` for a local path. An IPv6 address includes its brackets.
    package let host: String?
    /// The port in the address; `nil` means the protocol's default.
    package let port: Int?
    /// The path that the server gets, or the local path.
    package let path: String

    /// The reason why a text is not an address of a repository, and what to write instead.
    package struct Refusal: Error, Hashable, CustomStringConvertible {
        /// The end of a sentence that begins with the key or address: `` `repository` `` or the address itself.
        package let description: String

        init(_ description: String) { self.description = description }
    }

    /// Parses an address.
    /// - Parameter isInsecureAllowed: Whether `http://` and `git://` are allowed. Everyone on the network path can read and change their data.
    /// - Throws: `Refusal` if the text is not an allowed address.
    package init(_ text: String, isInsecureAllowed: Bool) throws(Refusal) {
        try Self.checkCharacters(text)
        if text.hasPrefix("/") {
            try self.init(localPath: text)
        } else if let mark = text.firstRange(of: "://"),
            !text[..<mark.lowerBound].contains(where: { "/:@".contains($0) })
        {
            try self.init(
                scheme: String(text[..<mark.lowerBound]), rest: text[mark.upperBound...],
                isInsecureAllowed: isInsecureAllowed)
        } else if let colon = text.firstIndex(of: ":"), !text[..<colon].contains("/") {
            try self.init(shortHost: text[..<colon], path: text[text.index(after: colon)...])
        } else {
            throw Self.unreadable
        }
    }

    /// Returns the address as messages and logs may show it. The text before the host can be a password, so it is left out unless it is an account
    /// name. At most 200 characters are shown, without any that hides or reorders text.
    package static func shown(_ text: String) -> String {
        let begin = text.firstRange(of: "://")?.upperBound ?? text.startIndex
        let end = text[begin...].firstIndex { "/?#".contains($0) } ?? text.endIndex
        var shown = text
        if let at = text[begin..<end].lastIndex(of: "@"), !isAccount(text[begin..<at]) {
            shown = text[..<begin] + "…" + text[at...]
        }
        return String(shown.prefix(200)).inOneLine
    }

    private static let unreadable = Refusal(
        "is not the address of a repository; write https://host/path.git, ssh://user@host/path.git, user@host:path.git or an absolute path"
    )

    // MARK: The whole text

    private static func checkCharacters(_ text: String) throws(Refusal) {
        guard !text.isEmpty, text.utf8.count <= maximumLength else {
            throw Refusal("must have 1 to \(maximumLength) bytes")
        }
        guard !text.unicodeScalars.contains(where: { $0.properties.isWhitespace }) else {
            throw Refusal("has a blank in it")
        }
        guard !text.unicodeScalars.contains(where: \.isHiddenInText), !hidesControl(text) else {
            throw Refusal(
                "has a control character in it, or one that hides or reorders text, written out or as %00 to %1F")
        }
        guard !text.hasPrefix("-") else { throw Refusal("begins with a hyphen, as an option does") }
        guard !text.utf8.contains(UInt8(ascii: "\\")) else { throw Refusal("has a backslash in it; write /") }
    }

    /// Whether a percent sign encodes a control character: `%00` to `%1f`, `%7f`.
    private static func hidesControl(_ text: String) -> Bool {
        percentCodes(in: text).contains { $0 < 0x20 || $0 == 0x7f }
    }

    private static func percentCodes(in text: some StringProtocol) -> [UInt8] {
        let bytes = Array(text.utf8)
        return bytes.indices.compactMap { index in
            guard bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count else { return nil }
            return UInt8(String(decoding: bytes[(index + 1)...(index + 2)], as: UTF8.self), radix: 16)
        }
    }

    // MARK: The three forms

    private init(localPath text: String) throws(Refusal) {
        // libgit2 reads a path with a colon as ssh's host:path if there is no such file.
        guard text.count > 1, !text.contains(":"), Self.isClean(path: text) else {
            throw Refusal(
                "is not a plain path; write it absolute, without colons and without empty, `.` and `..` components")
        }
        (description, kind, user, host, port, path) = (text, .path, nil, nil, nil, text)
    }

    private init(scheme: String, rest: Substring, isInsecureAllowed: Bool) throws(Refusal) {
        guard Self.isScheme(scheme) else { throw Self.unreadable }
        switch scheme.lowercased() {
        case "https": kind = .https
        case "ssh": kind = .ssh
        case "http": kind = .http
        case "git": kind = .git
        case "file": throw Refusal("begins with file://; write the absolute path alone")
        case let other:
            throw Refusal("cannot be reached: the scheme `\(other)` is not read; use https, ssh or an absolute path")
        }
        guard isInsecureAllowed || kind == .https || kind == .ssh else {
            throw Refusal(
                "can be read and changed on its way (\(kind.rawValue)); use https or ssh, or add `insecure: true`")
        }
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        let authority = try Authority(rest[..<slash])
        path = String(rest[slash...])
        guard path.contains(where: { $0 != "/" }) else { throw Refusal("names no path on its host") }
        try Self.check(path: path, kind)
        (user, host, port) = (authority.user, authority.host, authority.port)
        description = "\(kind.rawValue)://\(authority.text)\(path)"
    }

    private init(shortHost: Substring, path rest: Substring) throws(Refusal) {
        // "ext::sh -c": git reads two colons as a remote helper, which runs a program.
        guard !rest.hasPrefix(":"), !rest.hasPrefix("//"), !shortHost.contains("["), !rest.isEmpty else {
            throw Self.unreadable
        }
        // A URL with a missing slash would be read as a host with the scheme's name.
        guard !rest.hasPrefix("/") || !["https", "http", "ssh", "git", "file", "ftp"].contains(shortHost.lowercased())
        else {
            throw Self.unreadable
        }
        guard !rest.contains("@") else { throw Self.password }
        let authority = try Authority(shortHost)
        kind = .ssh
        path = String(rest)
        try Self.check(path: path, kind)
        (user, host, port) = (authority.user, authority.host, nil)
        description = "\(authority.text):\(path)"
    }

    // MARK: Parts of an address

    private static let password = Refusal(
        "has a password in it, which pages and logs would show; take it out and store it as the secret git-HOST")

    /// The part of an address before the path: `user@host:port`.
    private struct Authority {
        var user: String?
        var host: String
        var port: Int?
        /// The text, with the host in lower case.
        var text: String

        init(_ text: Substring) throws(Refusal) {
            var name = text
            if let at = text.lastIndex(of: "@") {
                let account = text[..<at]
                guard !account.contains(":") else { throw RepositoryAddress.password }
                guard RepositoryAddress.isAccount(account) else {
                    throw Refusal("has no readable account before its host")
                }
                user = String(account)
                name = text[text.index(after: at)...]
            }
            var number: Substring?
            if name.hasPrefix("["), let end = name.firstIndex(of: "]") {
                let rest = name[name.index(after: end)...]
                guard rest.isEmpty || rest.hasPrefix(":"), RepositoryAddress.isIPv6(name[...end]) else {
                    throw Self.unreadableHost
                }
                number = rest.isEmpty ? nil : rest.dropFirst()
                name = name[...end]
            } else {
                if let colon = name.firstIndex(of: ":") {
                    number = name[name.index(after: colon)...]
                    name = name[..<colon]
                }
                guard !name.isEmpty, !name.hasPrefix("-") else { throw Refusal("names no host") }
                guard RepositoryAddress.isPlain(name, also: ".-_"), !name.contains(".."), !name.hasPrefix(".") else {
                    throw Self.unreadableHost
                }
            }
            if let number {
                guard let value = Int(number), (1...65_535).contains(value), String(value) == number else {
                    throw Refusal("has an invalid port; ports are 1 to 65535")
                }
                port = value
            }
            host = name.lowercased()
            self.text = (user.map { $0 + "@" } ?? "") + host + (port.map { ":\($0)" } ?? "")
        }

        private static let unreadableHost = Refusal(
            "has a host that cannot be read: letters, digits, `.`, `-` and `_` in ASCII (a name in another script as xn--…), or an IPv6 "
                + "address in brackets")
    }

    /// Whether a text is a scheme (RFC 3986, section 3.1).
    private static func isScheme(_ text: String) -> Bool {
        isPlain(text, also: "+-.")
            && text.utf8.first.map { !(0x30...0x39).contains($0) && $0 != UInt8(ascii: "+") } == true
    }

    private static func isAccount(_ text: some StringProtocol) -> Bool { isPlain(text, also: "._~+-") }

    /// Whether a text is an IPv6 address in brackets, without a zone.
    private static func isIPv6(_ text: Substring) -> Bool {
        let inner = text.dropFirst().dropLast()
        return inner.utf8.count > 1 && inner.contains(":")
            && inner.utf8.allSatisfy { isHexadecimal($0) || ":.".utf8.contains($0) }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }

    /// Whether a text has only ASCII letters, digits and the named characters, is not empty, and does not begin with a hyphen.
    private static func isPlain(_ text: some StringProtocol, also: String) -> Bool {
        !text.isEmpty && !text.hasPrefix("-")
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: also.utf8.contains(byte)
                }
            }
    }

    private static func check(path: String, _ kind: Kind) throws(Refusal) {
        // Characters that the server's shell would interpret in a path over ssh, and those that end a path over http.
        let forbidden = kind == .ssh ? "?#'\"`$;&|<>*!" : "?#\"<>"
        guard isClean(path: path), !path.hasPrefix("-"), !path.contains(where: { forbidden.contains($0) }) else {
            throw Refusal(
                "has a path that begins with `-`, or has empty, `.` or `..` components or one of \(forbidden)")
        }
    }

    /// Whether no component is empty, `.` or `..`, also in percent encoding.
    private static func isClean(path: String) -> Bool {
        let components = path.split(separator: "/", omittingEmptySubsequences: false)
        let inner = components.dropFirst(path.hasPrefix("/") ? 1 : 0).dropLast(path.hasSuffix("/") ? 1 : 0)
        return !inner.isEmpty
            && inner.allSatisfy { component in
                let plain = component.lowercased().replacing("%2e", with: ".")
                return !["", ".", ".."].contains(plain)
            }
    }
}
