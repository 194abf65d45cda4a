import CLibGit2

/// The failure of a `git` that exited with a status other than 0, and the meaning of its messages.
struct ProgramFailure: Error {
    let status: Int32
    /// Its last lines, without its progress.
    let said: String
    /// Whether it reports damage to the local objects, not to those of a server.
    let isDamage: Bool
    /// Whether the server did not send a complete, valid pack.
    let isBadPack: Bool
    /// Whether a program is missing on this machine, as during an upgrade.
    let isOurs: Bool
    let url: RemoteURL
    let hasCredentials: Bool

    init(_ result: ChildProcess.Result, url: RemoteURL, hasCredentials: Bool) {
        status = result.status
        self.url = url
        self.hasCredentials = hasCredentials
        // Progress lines are overwritten with carriage returns. Lines from the server begin with `remote:`.
        let lines = result.errors.split { $0 == "\n" || $0 == "\r" || $0 == "\r\n" }
        let own = lines.filter { !$0.hasPrefix("remote:") && !$0.contains("remote error:") }.map { $0.lowercased() }
        // Other lines are from ssh, and may contain any greeting of a server.
        isDamage = own.contains { ($0.hasPrefix("fatal: ") || $0.hasPrefix("error: ")) && Self.isDamage($0) }
        // These are `sh: 1: ssh: not found`, and git's messages about a program that it cannot start.
        isOurs =
            [126, 127].contains(result.status)
            || own.contains { $0.contains("cannot run ") || $0.contains("cannot exec ") || $0.hasPrefix("sh: ") }
        isBadPack = own.contains { line in Self.badPack.contains { line.contains($0) } }
        said = lines.filter { !Self.isProgress($0) }.suffix(6).map { $0.prefix(300) }.joined(separator: "; ")
    }

    /// Messages of `git index-pack` about its input (builtin/index-pack.c of git 2.39). About local objects, such as the bases of a thin pack, it
    /// prints `local object … is corrupt` and `stored in`.
    private static let badPack = [
        "pack has bad object", "pack is corrupt", "pack signature mismatch", "bad pack header", "early eof",
        "pack has junk", "pack has ", "pack exceeds", "invalid index-pack output", "index-pack failed",
        "index-pack died",
    ]

    private static func isDamage(_ line: String) -> Bool {
        if ["local object", "stored in", "cannot read existing object"].contains(where: { line.contains($0) }) {
            return true
        }
        guard !line.contains("pack has bad object"), !line.contains("pack is corrupt") else { return false }
        return ["bad object", "not point to a valid object", "is corrupt", "not a git packfile", "hash mismatch"]
            .contains { line.contains($0) } || (line.contains("unable to read") && line.contains("object"))
    }

    private static func isProgress(_ line: Substring) -> Bool {
        let starts = [
            "Receiving objects:", "Resolving deltas:", "remote: Counting", "remote: Compressing", "remote: Enumerating",
            "remote: Total", "From ", " * ", " + ", "   ", "Checking connectivity",
        ]
        return starts.contains { line.hasPrefix($0) }
    }

    /// git's messages without names that others have chosen, because URLs, paths and refs may contain any words.
    private var words: String {
        var text = said.lowercased().replacing(url.description.lowercased(), with: "URL")
        for (start, end) in [("'", "'"), ("\"", "\""), ("remote ref ", ";")] {
            var rest = text[...]
            var kept = ""
            while let from = rest.firstRange(of: start) {
                kept += rest[..<from.upperBound]
                rest = rest[from.upperBound...]
                guard let to = rest.firstRange(of: end) else { break }
                rest = rest[to.lowerBound...]
                if start == end { (kept, rest) = (kept + end, rest[to.upperBound...]) }
            }
            text = kept + rest
        }
        return text
    }

    /// Returns the error with its code, and a message that states what to do.
    func error(_ operation: String) -> SourceControlError {
        let lower = words
        func says(_ parts: String...) -> Bool { parts.contains { lower.contains($0) } }
        func error(_ code: SourceControlError.Code, _ message: String) -> SourceControlError {
            SourceControlError(code: code, operation: operation, message: message, underlying: self)
        }
        // The number of SIGXFSZ is 25.
        if status == 128 + 25 || says("file too large", "died of signal 25") {
            return error(.tooLarge, "the server sent more than is allowed")
        }
        if says("promisor remote", "lazy fetching disabled") { return RemoteSession.partial(operation) }
        if isDamage {
            return error(
                .mirrorDamaged, "git reports damage in the mirror: \(said); Martlet fetches the damaged objects again")
        }
        if says("too large to fit into virtual memory") {
            return error(.tooLarge, "the server claims to send more than is allowed (\(said))")
        }
        if isBadPack { return error(.unreachable, RemoteSession.badPack(said)) }
        if says("mismatched algorithms") { return RemoteSession.differentHash(operation) }
        if says("unknown repository extension", "expected git repo version") {
            return error(
                .unsupported,
                "the repository is of a newer format than the git of its machine reads (\(said)); install a newer git there, or set the "
                    + "extension back in the repository")
        }
        if says("no space left", "disk quota") { return error(.file, "git says: \(said)") }
        if says("couldn't find remote ref", "not our ref", "unadvertised") {
            return error(.refGone, "the server does not have it any more (\(said))")
        }
        if says("host key verification failed", "host key is known", "host identification has changed") {
            return error(.serverUntrusted, RemoteSession.unknownHost(url))
        }
        if says("permission denied (", "too many authentication failures") {
            return hasCredentials
                ? error(.credentialsRefused, RemoteSession.refusedCredentials(url))
                : error(.credentialsMissing, RemoteSession.missingCredentials(url))
        }
        if says("could not read username", "could not read password", "authentication failed", "error: 403") {
            return hasCredentials
                ? error(.credentialsRefused, RemoteSession.refusedCredentials(url))
                : error(.credentialsMissing, RemoteSession.missingCredentials(url))
        }
        if says("certificate", "gnutls_handshake", "ssl_error", "tlsv1 alert", "ssl connect error", "ssl: ") {
            return error(.serverUntrusted, RemoteSession.untrustedCertificate(url, said))
        }
        if says("error: 30", "redirect") { return error(.redirected, RemoteSession.redirected(url, said)) }
        if says("out of memory", "cannot allocate") {
            return error(.tooLarge, "the server's answer needs more memory than git is allowed (\(said))")
        }
        if !isOurs,
            says(
                "not found", "does not appear to be a git", "does not exist", "not exported", "no such file",
                "error: 404",
                "access denied", "denied by", "no such repository", "repository unavailable")
        {
            return error(.repositoryNotFound, RemoteSession.absent(url, said))
        }
        let words = said.isEmpty ? "git printed nothing and ended with \(status)" : "git says: \(said)"
        return error(.unreachable, "\(Self.sentence(lower)) (\(words)); Martlet tries again later")
    }

    /// Returns a sentence about why git cannot reach the server.
    private static func sentence(_ said: String) -> String {
        let causes: [(words: [String], sentence: String)] = [
            (
                ["could not resolve", "name or service not known"],
                "DNS has no address for the host"
            ),
            (
                ["connection refused", "failed to connect", "couldn't connect", "unable to connect"],
                "nothing listens there"
            ),
            (["no route to host", "network is unreachable"], "the network has no route to the host"),
            (["timed out", "timeout"], "there was no answer in time"),
            (["error: 429"], "the server limits requests"),
            (["error: 5"], "the server cannot answer at present"),
            (
                ["is this a git repository", "not valid: "],
                "the server there is not a git server: a web page, a proxy, or an address that is not a repository"
            ),
            (
                [
                    "empty reply", "hung up", "reset by peer", "disconnect", "rpc failed", "connection closed",
                    "broken pipe",
                ],
                "the connection broke"
            ),
        ]
        return causes.first { $0.words.contains(where: said.contains) }?.sentence
            ?? "git could not fetch the requested objects"
    }
}
