import Model

/// A reader of a trigger's action: `run`, `publish` or `upload`.
enum ActionReader {
    /// The placeholders that an upload's address may contain in braces.
    static let placeholders = ["product", "version", "branch", "commit", "configuration", "file"]

    static func action(
        _ fields: Fields, _ context: TriggerReader.Context, isPublished: Bool, _ diagnostics: inout Diagnostics
    ) -> Trigger.Action? {
        let keys = ["run", "publish", "upload"].filter { fields.written($0) != nil }
        guard keys.count == 1 else {
            diagnostics.error(
                keys.isEmpty
                    ? "the trigger has no action; write one of `run`, `publish`, `upload`"
                    : "the trigger has \(keys.map { "`\($0)`" }.joined(separator: " and ")); make one trigger of each",
                at: keys.count > 1 ? fields.position(of: keys[1]) : fields.position)
            return nil
        }
        if keys[0] != "upload", fields["credentials"] != nil {
            diagnostics.error("`credentials` belongs to `upload`", at: fields.position(of: "credentials"))
        }
        if keys[0] != "run", fields["secrets"] != nil {
            diagnostics.error(
                "`secrets` belongs to `run`" + (keys[0] == "upload" ? "; an upload has `credentials`" : ""),
                at: fields.position(of: "secrets"))
        }
        if keys[0] != "run", fields["sandbox"] != nil {
            diagnostics.error(
                "`sandbox` belongs to `run`; the command of a `version` runs in the sandbox of the job in any case",
                at: fields.position(of: "sandbox"))
        }
        guard let value = fields[keys[0]] else {
            diagnostics.error("`\(keys[0])` is empty", at: fields.position(of: keys[0]))
            return nil
        }
        switch keys[0] {
        case "run": return script(value, &diagnostics)
        case "publish": return publish(value, &diagnostics)
        default:
            let url = upload(value, context, isPublished: isPublished, &diagnostics)
            let credentials = diagnostics.secretName(fields["credentials"], "credentials")
            if url?.lowercased().hasPrefix("s3:") == true, fields.written("credentials") == nil {
                diagnostics.error(
                    "an upload to a bucket needs `credentials:`, the name of a secret with ACCESSKEY:SECRET",
                    at: value.position)
            }
            return url.map { .upload(url: $0, credentials: credentials) }
        }
    }

    private static func script(_ node: YAMLNode, _ diagnostics: inout Diagnostics) -> Trigger.Action? {
        guard let text = diagnostics.line(node, "run") else { return nil }
        if text.contains("/") {
            diagnostics.error(
                "`run` is the name of an executable in `triggers/` beside the directory of bot files, without a slash: "
                    + Printable.quoted(text), at: node.position)
            return nil
        }
        let isName = text.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                || "._-".utf8.contains($0)
        }
        guard isName, text.utf8.count <= 64, !text.hasPrefix("."), !text.hasPrefix("-") else {
            diagnostics.error(
                "`run` is the name of one executable (letters, digits, `.`, `_`, `-`, at most 64), without arguments: "
                    + Printable.quoted(text), at: node.position)
            return nil
        }
        return .run(text)
    }

    private static func publish(_ node: YAMLNode, _ diagnostics: inout Diagnostics) -> Trigger.Action? {
        guard let fields = Fields(node, Keys.publish, of: "`publish`", &diagnostics) else { return nil }
        guard let version = fields["version"] else {
            if !fields.hasRefused {
                diagnostics.error(
                    "`publish` needs `version: branch`, `tag`, `{ file: VERSION }` or `{ command: … }`",
                    at: fields.position)
            }
            return nil
        }
        if case .mapping = version.content { return stated(version, &diagnostics).map { .publish($0) } }
        let word: Trigger.VersionSource.Word? = diagnostics.word(version, "version")
        return word.map { .publish($0.source) }
    }

    /// Reads a version that comes from a file or a command; `nil` after an error.
    private static func stated(_ node: YAMLNode, _ diagnostics: inout Diagnostics) -> Trigger.VersionSource? {
        guard let fields = Fields(node, Keys.version, of: "`version`", &diagnostics) else { return nil }
        switch (fields["file"], fields["command"]) {
        case (let file?, nil):
            guard let path = diagnostics.line(file, "file") else { return nil }
            let parts = path.split(separator: "/", omittingEmptySubsequences: false)
            guard path.utf8.count <= 1024, !parts.contains(where: { ["", ".", ".."].contains($0) }) else {
                diagnostics.error(
                    "`file` is a path from the repository's root, such as VERSION: \(Printable.quoted(path))",
                    at: file.position)
                return nil
            }
            return .file(path)
        case (nil, let command?): return diagnostics.line(command, "command").map { .command($0) }
        default:
            if !fields.hasRefused {
                diagnostics.error("`version` has one of `file` and `command`", at: fields.position)
            }
            return nil
        }
    }

    /// Returns the package that a `publish` names; `nil` if it names none.
    static func registry(_ publish: YAMLNode?, _ diagnostics: inout Diagnostics) -> PackageIdentifier? {
        guard case .mapping(let entries) = publish?.content, let entry = entries.first(where: { $0.key == "registry" })
        else { return nil }
        guard let text = diagnostics.line(entry.value, "registry") else { return nil }
        guard let package = PackageIdentifier(text) else {
            diagnostics.error(
                "`registry` is a package's scope and name, as in `acme.kit` (letters, digits, single hyphens, in the name also "
                    + "underscores; 39 and 100 at most): \(Printable.quoted(text))", at: entry.position)
            return nil
        }
        return package
    }

    private static func upload(
        _ node: YAMLNode, _ context: TriggerReader.Context, isPublished: Bool, _ diagnostics: inout Diagnostics
    ) -> String? {
        guard let text = diagnostics.line(node, "upload") else { return nil }
        if let problem = addressProblem(text, isInsecure: context.isInsecure) {
            diagnostics.error(problem, at: node.position)
            return nil
        }
        guard let names = bracedNames(text) else {
            diagnostics.error("a brace in `upload` has no partner: \(Printable.quoted(text))", at: node.position)
            return nil
        }
        for name in names where !placeholders.contains(name) {
            let hint = Suggestion.hint(for: name, in: placeholders)
            let known = hint.isEmpty ? "; known are \(placeholders.map { "{\($0)}" }.joined(separator: " "))" : hint
            diagnostics.error(
                "`upload` has the unknown placeholder \(Printable.quoted("{\(name)}"))\(known)", at: node.position)
        }
        if names.contains("version"), !isPublished {
            diagnostics.error(
                "{version} has no value here: no trigger before this one publishes; put one with "
                    + "`publish: { version: branch }` above it", at: node.position)
        }
        return text
    }

    private static func addressProblem(_ text: String, isInsecure: Bool) -> String? {
        let shown = Printable.quoted(AddressText.withoutPassword(text))
        if text.utf8.count > AddressText.maximumLength {
            return "`upload` is longer than \(AddressText.maximumLength) bytes"
        }
        if text.contains(where: \.isWhitespace) { return "`upload` has a blank in it: \(shown)" }
        if text.hasPrefix("/") {
            return text.split(separator: "/").contains("..") ? "`upload` has `..` in it: \(shown)" : nil
        }
        guard let parts = AddressText.parts(of: text) else {
            return "\(shown) is not an address; write sftp://host/path/, https://host/path/, ftps://host/path/, "
                + "s3://bucket/path/ or an absolute path"
        }
        switch parts.scheme {
        case "https", "sftp", "ftps": break
        case "s3": return UploadBucket.problem(parts, isInsecure: isInsecure)
        case "http", "ftp":
            if !isInsecure {
                return "\(parts.scheme):// can be read and changed on its way; use https, sftp or ftps, or add "
                    + "`insecure: true` at the top"
            }
        default:
            return "the scheme `\(parts.scheme)` is not supported; use sftp, https, ftps, s3 or an absolute path"
        }
        if parts.hasPassword {
            return AddressText.passwordProblem("upload", "; name a secret with `credentials:`")
        }
        if parts.host.isEmpty || parts.host.hasPrefix("-") { return "`upload` names no host: \(shown)" }
        if parts.host.contains("{") {
            return "`upload` has a placeholder in its host; they belong to the path: \(shown)"
        }
        if parts.path.contains("?") || parts.path.contains("#") {
            return "`upload` has a query or fragment; only a path can be uploaded to: \(shown)"
        }
        return nil
    }

    /// Returns the names in braces; `nil` if the braces do not pair.
    private static func bracedNames(_ text: String) -> [String]? {
        var names: [String] = []
        var rest = text[...]
        while let open = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
            guard rest[open] == "{" else { return nil }
            let inside = rest[rest.index(after: open)...]
            guard let close = inside.firstIndex(where: { $0 == "{" || $0 == "}" }), inside[close] == "}" else {
                return nil
            }
            names.append(String(inside[..<close]))
            rest = inside[inside.index(after: close)...]
        }
        return names
    }
}
