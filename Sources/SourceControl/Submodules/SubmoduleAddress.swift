import Model

/// The URL of a submodule. It comes from the commit, not from the operator, so it has stricter rules than one in a bot file.
///
/// The following are allowed: a relative URL (`../lib.git`) that stays on the repository's host, or for a local path in its directory; https; ssh on
/// the repository's own host. All others are refused, and also those that `RemoteURL` refuses (`-u./p`, `ext::`, `file://`).
struct SubmoduleAddress {
    let url: RemoteURL
    /// Whether it is on the host of the bot's repository, at the repository's port or a protocol's default one. Such a host may have any address.
    let isOwnHost: Bool
    /// Whether it gets the repository's credentials. It does if the protocol, the host and the port are the same.
    let takesCredentials: Bool

    /// - Parameters:
    ///   - parent: The URL of the repository whose commit names it. Relative URLs begin there.
    ///   - root: The URL of the bot's repository.
    init(_ text: String, parent: RemoteURL, root: RemoteURL) throws(SourceControlError) {
        func refusal(_ reason: String) -> SourceControlError {
            SourceControlError(
                code: .invalidURL, operation: "reading a submodule's URL",
                message: "\"\(RepositoryAddress.shown(text))\": \(reason)"
            )
        }
        if text.hasPrefix("./") || text.hasPrefix("../") {
            var (rest, base) = (text[...], parent.path.split(separator: "/", omittingEmptySubsequences: false)[...])
            if base.last == "" { base.removeLast() }
            var climbed = 0
            while true {
                if rest.hasPrefix("./") {
                    rest = rest.dropFirst(2)
                } else if rest.hasPrefix("../") {
                    rest = rest.dropFirst(3)
                    climbed += 1
                    guard !base.isEmpty, base.last != "" else { throw refusal("it leads out of the host's paths") }
                    base.removeLast()
                } else {
                    break
                }
            }
            guard parent.kind != .path || climbed == 1 else {
                throw refusal("of a local repository only ../NAME, beside it, is allowed")
            }
            let path = (base + [rest]).joined(separator: "/")
            url = try RemoteURL(
                parent.description.dropLast(parent.path.count) + path, isInsecureAllowed: parent.isInsecure)
        } else {
            url = try RemoteURL(text, isInsecureAllowed: false)
            guard url.kind != .path else {
                throw refusal("a path of this machine is not allowed; write ../NAME or https://…")
            }
        }
        takesCredentials = url.host == root.host && url.kind == root.kind && url.port == root.port
        isOwnHost = url.host == root.host && (url.port == nil || takesCredentials)
        guard isOwnHost || url.kind == .https else {
            throw refusal("on another host than the repository's only https is allowed")
        }
    }
}

extension RemoteURL {
    var isInsecure: Bool { kind == .http || kind == .git }
}
