import Encodings

/// The template of an upload's target in a bot file: `sftp://files.example/kit/{version}/`, `https://…/{branch}/{file}`,
/// `/srv/files/{product}/{version}`.
///
/// The placeholders are `{product} {version} {branch} {commit} {configuration} {file}`. A value always stays within one path segment, because it is
/// percent-encoded. In a local path only `/` and `%` are encoded. In the path of a URL a `/` is encoded twice, because servers decode once. A value
/// can therefore not begin a query, a fragment, a header line or another directory.
///
/// Values that encoding does not make harmless are refused. These are values with control characters, and with a `.`, `..` or empty component between
/// `/` or `\`, because servers decode before they resolve.
package enum UploadTemplate {
    /// The names that are allowed in braces.
    package static let placeholders = ["product", "version", "branch", "commit", "configuration", "file"]

    /// The size limit of a value in bytes, which is that of a file name.
    package static let maximumValueLength = 255

    /// Replaces the placeholders by their values.
    /// - Parameter values: The values, keyed by placeholder. A placeholder in the template without a value is an error.
    /// - Throws: `invalid` for an unknown placeholder, one before the path, or a value that cannot be made harmless.
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

    /// Returns the name of a value at a server. sftp and ftp have no slash except as a separator, and nginx decodes `%2F` before it looks for the
    /// file. The name itself therefore contains `%2F`, and two values never become the same name.
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

    /// Whether the scheme, the host and the slash after it are complete.
    private static func hasPath(_ prefix: String) -> Bool {
        guard let separator = prefix.firstRange(of: "://") else { return false }
        return prefix[separator.upperBound...].contains("/")
    }

    private static func invalid(_ template: String, _ message: String) -> TransferError {
        // A template may contain a password before an @, which must not be in messages.
        let shown = template.split(separator: "@", maxSplits: 1).last.map(String.init) ?? template
        return TransferError(code: .invalid, operation: "upload to \(shown)", message: message)
    }
}
