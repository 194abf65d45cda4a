package import Model

/// The address of a repository, parsed once and held to a short list of ways; everything else is refused here, before
/// libgit2 or a shell could read it in its own way.
///
/// Allowed: `https://`, `ssh://`, `user@host:path`, an absolute local path; `http://` and `git://` only when the operator
/// said `insecure: true`. Refused among others: other schemes in any case (`ext::`, `file://`), hosts, users and paths
/// that begin with `-` (CVE-2017-1000117), passwords in the URL, control characters raw or percent-encoded
/// (CVE-2020-5260), `..` components.
package struct RemoteURL: Sendable, Hashable, CustomStringConvertible {
    /// The ways to a repository; `ssh` also stands for `user@host:path`, `path` for an absolute one of this machine.
    package enum Kind: String, Sendable { case https, http, ssh, git, path }

    /// Longest URL in bytes.
    package static let maximumLength = 2048

    /// The URL with scheme and host in lower case.
    package let description: String
    package let kind: Kind
    /// The account in the URL, if it names one.
    package let user: String?
    /// Nothing for a local path.
    package let host: String?
    /// As it stands in the URL; nothing for the protocol's own.
    package let port: Int?
    /// As the server gets it; for a local path the path.
    package let path: String

    /// A directory of this machine that nothing is ever fetched from: any path will do.
    init(directory: String) {
        (description, kind, user, host, port, path) = (directory, .path, nil, nil, nil, directory)
    }

    /// - Parameter isInsecureAllowed: Whether `http://` and `git://`, which anyone on the way can read and change, pass.
    package init(_ text: String, isInsecureAllowed: Bool) throws(SourceControlError) {
        let shown = String(text.prefix(200))
        func refusal(_ reason: String) -> SourceControlError {
            SourceControlError(
                code: .invalidURL, operation: "reading the repository's URL", message: "\"\(shown)\": \(reason)")
        }
        guard !text.isEmpty, text.utf8.count <= Self.maximumLength else {
            throw refusal("it must have 1 to \(Self.maximumLength) bytes")
        }
        guard !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7f }), !Self.hidesControl(text) else {
            throw refusal("white space and control characters are not allowed in it")
        }
        guard !text.utf8.contains(UInt8(ascii: "\\")), !text.hasPrefix("-") else {
            throw refusal("backslashes and a leading hyphen are not allowed in it")
        }
        if text.hasPrefix("/") {
            // libgit2 takes a path with a colon for ssh's host:path when nothing is there.
            guard Self.isClean(path: text), text.count > 1, !text.contains(":") else {
                throw refusal(
                    "write a local path absolute, without colons and without empty, \".\" and \"..\" components")
            }
            (description, kind, user, host, port, path) = (text, .path, nil, nil, nil, text)
            return
        }
        let authority: String
        if let (scheme, rest) = Self.split(text, at: "://") {
            let allowed: [String: Kind] = ["https": .https, "ssh": .ssh, "http": .http, "git": .git]
            guard let kind = allowed[scheme.lowercased()] else {
                throw refusal(
                    scheme.lowercased() == "file"
                        ? "write the absolute path without file://"
                        : "\(scheme) is not one of https, ssh, http, git; a local repository is its absolute path")
            }
            guard isInsecureAllowed || kind == .https || kind == .ssh else {
                throw refusal(
                    "\(kind.rawValue) is neither encrypted nor authenticated; write insecure: true to allow it")
            }
            guard let slash = rest.firstIndex(of: "/") else { throw refusal("the path is missing") }
            authority = String(rest[..<slash])
            path = String(rest[slash...])
            self.kind = kind
        } else if let colon = text.firstIndex(of: ":"), !text[..<colon].contains("/") {
            authority = String(text[..<colon])
            path = String(text[text.index(after: colon)...])
            kind = .ssh
            // "ext::sh -c", "[::1]:x": git's own reading of two colons is a remote helper, which runs a program.
            guard !path.hasPrefix(":"), !authority.contains("[") else { throw refusal("it is no URL; write ssh://…") }
        } else {
            throw refusal("it is neither a URL nor an absolute path")
        }
        var (name, port) = (authority, String?.none)
        var user: String?
        if let at = name.lastIndex(of: "@") {
            user = String(name[..<at])
            name = String(name[name.index(after: at)...])
        }
        if let user {
            guard !user.contains(":") else {
                throw SourceControlError(
                    code: .invalidURL, operation: "reading the repository's URL",
                    message:
                        "it contains a password, and URLs are shown to everyone; take it out and store it as the secret git-HOST"
                )
            }
            guard Self.isPlain(user, also: "._~+-") else { throw refusal("\"\(user)\" is no account's name") }
        }
        if name.hasPrefix("["), let end = name.firstIndex(of: "]") {
            let rest = name[name.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { throw refusal("the host is not readable") }
            port = rest.isEmpty ? nil : String(rest.dropFirst())
            name = String(name[...end])
            guard name.dropFirst().dropLast().allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }), name.count > 3
            else { throw refusal("the host is not readable") }
        } else {
            if let colon = name.firstIndex(of: ":") {
                port = String(name[name.index(after: colon)...])
                name = String(name[..<colon])
            }
            guard Self.isPlain(name, also: ".-_"), !name.contains("..") else {
                throw refusal("the host is not readable")
            }
        }
        if let port {
            guard let number = Int(port), (1...65_535).contains(number), port.allSatisfy(\.isNumber) else {
                throw refusal("the port must be 1 to 65535")
            }
        }
        let forbidden = kind == .ssh ? "?#'\"`$;&|<>*!" : "?#\"<>"
        guard Self.isClean(path: path), path != "/", !path.hasPrefix("-"),
            !path.contains(where: { forbidden.contains($0) })
        else {
            throw refusal("the path must not be empty, begin with \"-\", hold \"..\" or one of \(forbidden)")
        }
        let whole = (user.map { $0 + "@" } ?? "") + name.lowercased() + (port.map { ":" + $0 } ?? "")
        self.user = user
        host = name.lowercased()
        self.port = port.flatMap { Int($0) }
        description = text.contains("://") ? "\(kind.rawValue)://\(whole)\(path)" : "\(whole):\(path)"
    }

    /// Scheme, host and port, for which an answer to a server's question is meant; nothing for a local path.
    var origin: String? { host.map { "\(kind.rawValue)://\($0)" + (port.map { ":\($0)" } ?? "") } }

    /// A readable name: the last component of the path without `.git`.
    package var name: Name {
        let last = path.split(separator: "/").last.map(String.init) ?? ""
        return Name(nearest: last.hasSuffix(".git") ? String(last.dropLast(4)) : last, fallback: "repository")
    }

    private static func split(_ text: String, at separator: String) -> (String, String)? {
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix(separator) else { return nil }
        let scheme = String(text[..<colon])
        guard !scheme.contains("/"), !scheme.contains("@") else { return nil }
        return (scheme, String(text[colon...].dropFirst(separator.count)))
    }

    /// Letters, digits and what is named, not beginning with a hyphen and not empty.
    private static func isPlain(_ text: String, also: String) -> Bool {
        !text.isEmpty && !text.hasPrefix("-")
            && text.unicodeScalars.allSatisfy {
                $0.isASCII
                    && ($0.properties.isAlphabetic || ("0"..."9").contains($0) || also.unicodeScalars.contains($0))
            }
    }

    private static func isClean(path: String) -> Bool {
        let components = path.split(separator: "/", omittingEmptySubsequences: false)
        let inner = components.dropFirst(path.hasPrefix("/") ? 1 : 0).dropLast(path.hasSuffix("/") ? 1 : 0)
        return !inner.isEmpty && inner.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." }
    }

    /// Whether a percent sign encodes a control character: `%00` to `%1f`, `%7f`.
    private static func hidesControl(_ text: String) -> Bool {
        let bytes = Array(text.lowercased().utf8)
        return bytes.indices.contains { index in
            guard bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count else { return false }
            let code = String(decoding: bytes[(index + 1)...(index + 2)], as: UTF8.self)
            return UInt8(code, radix: 16).map { $0 < 0x20 || $0 == 0x7f } ?? false
        }
    }
}
