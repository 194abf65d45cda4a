/// Where an upload goes, as a bot file says it: `sftp://files.example/kit/{version}/`, `https://…/{branch}/{file}`,
/// `/srv/files/{product}/{version}`.
///
/// Placeholders are `{product} {version} {branch} {commit} {configuration} {file}`. A value stays one path segment: it is
/// percent-encoded (in a local path only what would end the segment), a `/` in a path twice, since servers decode once, so nothing in it can begin a query, a fragment, a
/// header line or another directory. What percent-encoding does not make harmless is refused: control characters, and a
/// `.`, `..` or empty component between `/` or `\`, since servers decode before they resolve.
package enum UploadTemplate {
    /// The names that may stand in braces.
    package static let placeholders = ["product", "version", "branch", "commit", "configuration", "file"]

    /// Longest value in bytes; a file name can have no more.
    package static let maximumValueLength = 255

    /// Puts the values in place of their placeholders.
    /// - Parameter values: By placeholder. One that the template names and that has no value is an error.
    /// - Throws: `invalid`: an unknown placeholder, one before the path, a value that cannot be made harmless.
    package static func expand(_ template: String, values: [String: String]) throws(TransferError) -> String {
        let isLocal = template.hasPrefix("/")
        var result = ""
        var rest = template[...]
        while let open = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
            guard rest[open] == "{", let close = rest[open...].firstIndex(of: "}") else {
                throw invalid(template, "a brace has no partner; write {version}")
            }
            result += rest[..<open]
            let name = String(rest[rest.index(after: open)..<close])
            guard placeholders.contains(name) else {
                throw invalid(
                    template, "{\(name)} is unknown; known are " + placeholders.map { "{\($0)}" }.joined(separator: " ")
                )
            }
            guard isLocal || hasPath(result) else {
                throw invalid(template, "{\(name)} stands before the path; only what follows the host can vary")
            }
            guard let value = values[name] else { throw invalid(template, "there is no value for {\(name)} here") }
            result += try encode(value, of: name, in: template, isLocal: isLocal, isName: !result.contains("?"))
            rest = rest[rest.index(after: close)...]
        }
        return result + rest
    }

    /// The placeholders that a template names, for checks before anything runs.
    package static func names(in template: String) -> [String] {
        placeholders.filter { template.contains("{\($0)}") }
    }

    private static func encode(
        _ value: String, of name: String, in template: String, isLocal: Bool, isName: Bool
    ) throws(TransferError) -> String {
        guard value.utf8.count <= maximumValueLength else {
            throw invalid(template, "the value of {\(name)} is longer than \(maximumValueLength) bytes")
        }
        guard value.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7f...0x9f).contains($0.value) }) else {
            throw invalid(template, "the value of {\(name)} holds a control character")
        }
        let components = value.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }
        guard components.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }) else {
            throw invalid(template, "the value of {\(name)} is empty or has an empty, . or .. component")
        }
        guard isLocal else { return PercentEncoding.encode(isName ? oneName(value) : value) }
        return value.map { $0 == "/" || $0 == "%" ? PercentEncoding.encode(String($0)) : String($0) }.joined()
    }

    /// The name that a value becomes at a server: sftp and ftp have no other slash than the one that parts directories, and nginx decodes
    /// `%2F` before it looks for the file. So the name itself holds `%2F`, and two values never become one name.
    private static func oneName(_ value: String) -> String {
        var name = ""
        var rest = value[...]
        while let character = rest.popFirst() {
            let next = rest.prefix(2).lowercased()
            switch character {
            case "/": name += "%2F"
            case "%" where next == "2f" || next == "25": name += "%25"
            default: name.append(character)
            }
        }
        return name
    }

    /// Whether scheme, host and the slash after it are complete.
    private static func hasPath(_ prefix: String) -> Bool {
        guard let separator = prefix.firstRange(of: "://") else { return false }
        return prefix[separator.upperBound...].contains("/")
    }

    private static func invalid(_ template: String, _ message: String) -> TransferError {
        // A template may hold a password before an @, which no message shows.
        let shown = template.split(separator: "@", maxSplits: 1).last.map(String.init) ?? template
        return TransferError(code: .invalid, operation: "upload to \(shown)", message: message)
    }
}
