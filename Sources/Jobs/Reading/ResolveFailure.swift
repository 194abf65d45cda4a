/// Finds the dependency that a failed resolve step could not get, and whether its registry was reached, from the last lines that the step printed.
///
/// The tools' messages are data: there is a row for each form in which npm, pip, Cargo, Go, SwiftPM, Composer, Bundler and git write them.
struct ResolveFailure: Equatable {
    /// The reason why a dependency was not available.
    enum Cause: Equatable {
        /// There was no answer. `server` is the name of the server, if the lines contain it.
        case unreachable(server: String?)
        /// The registry answers, and asks for credentials or refuses these.
        case refused
        /// The registry answers, and does not have this dependency or version.
        case missing
    }

    /// The dependency's name as the tool spells it; `nil` if the lines do not name it.
    var dependency: String?
    var cause: Cause

    /// A form in which a tool names the dependency. Its first group is the name, or a URL that ends with it.
    private struct Form: @unchecked Sendable {
        let pattern: Regex<(Substring, Substring)>
        /// Whether the message itself states that the registry does not have it.
        var saysMissing = false
    }

    /// The most lines that are searched, and the most bytes of one.
    private static let lineLimit = (count: 400, bytes: 1024)

    private static let forms: [Form] = [
        // npm
        Form(pattern: #/request to (https?://\S+) failed, reason:/#),
        Form(pattern: #/404 +Not Found - GET (https?://\S+)/#, saysMissing: true),
        Form(pattern: #/404 +'([^']+)' is not in (?:this|the npm) registry/#, saysMissing: true),
        Form(pattern: #/No matching version found for (\S+?)\.?$/#, saysMissing: true),
        // pip
        Form(pattern: #/No matching distribution found for ([^\s;(]+)/#, saysMissing: true),
        Form(pattern: #/satisfies the requirement ([^\s;(]+)/#, saysMissing: true),
        // Cargo
        Form(pattern: #/failed to get `([^`]+)` as a dependency of/#),
        Form(pattern: #/no matching package named `([^`]+)` found/#, saysMissing: true),
        Form(pattern: #/failed to select a version for the requirement `([^`]+)`/#, saysMissing: true),
        Form(pattern: #/failed to download `([^`]+)`/#),
        Form(pattern: #/Unable to update (https?://\S+)/#),
        // Go
        Form(pattern: #/^go: (?:downloading )?([^\s:@]+@[^\s:]+): /#),
        Form(pattern: #/^(?:go: )?[^\s:]+\.go:\d+:\d+: ([^\s:@]+@[^\s:]+): /#),
        // SwiftPM
        Form(pattern: #/[Ff]ailed to clone repository (\S+?):?$/#),
        Form(pattern: #/no versions of '([^']+)' match the requirement/#, saysMissing: true),
        // Composer
        Form(
            pattern: #/requires ([a-z0-9_.-]+/[a-z0-9_.-]+)[^,]{0,80}, (?:it could not be found|found .{0,80} but)/#,
            saysMissing: true),
        Form(pattern: #/curl error \d+ while downloading (https?://\S+?):? /#),
        // Bundler
        Form(pattern: #/Could not find gem '([^']+)' in/#, saysMissing: true),
        Form(
            pattern: #/Could not find (\S+) in (?:any of the sources|locally installed gems|rubygems)/#,
            saysMissing: true),
        Form(pattern: #/Could not fetch specs from (https?://\S+)/#),
        // git
        Form(pattern: #/unable to access '([^']+)'/#),
        Form(pattern: #/repository '([^']+)' not found/#, saysMissing: true),
    ]

    /// Messages of programs that do not reach a server, in lower case.
    private static let unreachable =
        SandboxHint.noNetwork + [
            "couldn't resolve host", "connection refused", "econnrefused", "connection timed out", "etimedout",
            "connection reset", "econnreset", "failed to connect to", "could not connect to", "couldn't connect to",
            "failed to establish a new connection", "failed to open tcp connection", "no route to host",
            "network error while fetching", "i/o timeout", "operation timed out", "err_socket_timeout",
            "could not reach host",
        ]

    /// Messages of tools whose server answers that the object does not exist, in lower case.
    private static let missing = [
        "404 not found", "410 gone", "unknown revision", "status code 404", "invalid version: unknown",
    ]

    /// Messages of servers that answer and refuse, in lower case.
    private static let refused = [
        "401 unauthorized", "403 forbidden", "e401", "e403", "authentication failed", "could not read username",
        "permission denied (publickey", "http 401", "http 403", "error: 401", "error: 403", "status code 401",
        "status code 403",
    ]

    /// Finds the failure in a step's output.
    /// - Parameter tail: The end of the step's output.
    /// - Returns: `nil` if no line states why the step failed.
    static func find(in tail: some Collection<UInt8>) -> ResolveFailure? {
        let lines = tail.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.suffix(lineLimit.count)
            .map { String(decoding: $0.prefix(lineLimit.bytes), as: UTF8.self) }
        // The last message is the one with which the step ended, so the lines are searched from the end.
        let said = lines.reversed().compactMap { line -> (form: Form, name: String)? in
            forms.lazy.compactMap { form in
                line.firstMatch(of: form.pattern).map { (form: form, name: String($0.output.1)) }
            }.first
        }
        let named = said.first { !isAddress($0.name) } ?? said.first
        let unreachableLine = lines.last { line in
            let small = line.lowercased()
            return unreachable.contains(where: small.contains)
        }
        if let line = unreachableLine {
            return ResolveFailure(
                dependency: named.map { name(of: $0.name) }, cause: .unreachable(server: server(in: line)))
        }
        if lines.contains(where: { line in refused.contains(where: line.lowercased().contains) }) {
            return ResolveFailure(dependency: named.map { name(of: $0.name) }, cause: .refused)
        }
        let isMissing =
            said.contains(where: \.form.saysMissing)
            || lines.contains { line in missing.contains(where: line.lowercased().contains) }
        guard let named, isMissing else { return nil }
        return ResolveFailure(dependency: name(of: named.name), cause: .missing)
    }

    /// A sentence about what happened, and what to do.
    var sentence: String {
        let subject = dependency.map { "the dependency \($0)" } ?? "a dependency"
        switch cause {
        case .unreachable(let server):
            return
                "\(subject) could not be fetched: \(server ?? "its registry") cannot be reached; see whether this machine reaches it, and "
                + "rerun the integration when it does"
        case .refused:
            return
                "\(subject) could not be fetched: its registry answers, but refuses access; give the step credentials by `secrets`, or "
                + "correct them"
        case .missing:
            return
                "\(subject) could not be fetched: its registry answers, but has no such package or version; correct the name or the "
                + "version in the manifest or lock file"
        }
    }

    private static func isAddress(_ text: String) -> Bool { text.contains("://") }

    /// Returns the name at the end of a URL: `https://registry.npmjs.org/@acme%2fkit` → `@acme/kit`.
    private static func name(of text: String) -> String {
        guard isAddress(text) else { return String(text.prefix(200)) }
        guard let scheme = text.firstRange(of: "://") else { return text }
        let path = text[scheme.upperBound...].split(separator: "/").dropFirst()
        guard let last = path.last else { return String(text.prefix(200)) }
        let name = last.split(separator: "?").first.map(String.init) ?? String(last)
        let whole = name.replacing("%2f", with: "/").replacing("%2F", with: "/")
        return String((whole.hasSuffix(".git") ? String(whole.dropLast(4)) : whole).prefix(200))
    }

    /// Returns the server that a line names, in a URL or as the host that could not be resolved or connected to. `nil` if it names none.
    private static func server(in line: String) -> String? {
        let patterns: [Regex<(Substring, Substring)>] = [
            #/[Cc]ould(?: not|n't) resolve host(?:name)?(?: name)?:? \(?(?:Could not resolve host: )?([A-Za-z0-9.-]+\.[A-Za-z0-9-]+)/#,
            #/lookup ([A-Za-z0-9.-]+\.[A-Za-z0-9-]+)/#,
            #/(?:EAI_AGAIN|ENOTFOUND) ([A-Za-z0-9.-]+\.[A-Za-z0-9-]+)/#,
            #/(?:connect to|connection to|reach host|host=)'? ?([A-Za-z0-9.-]+\.[A-Za-z0-9-]+)/#,
            #/://(?:[^/\s@]*@)?([A-Za-z0-9.-]+)/#,
        ]
        return patterns.lazy.compactMap { line.firstMatch(of: $0).map { String($0.output.1.prefix(200)) } }.first
    }
}
