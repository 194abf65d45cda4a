/// The check of an upload's `s3://BUCKET/KEY?region=…&endpoint=…&use_path_style=…`. `Transfer` parses it again.
///
/// Only KEY may have names in braces, such as `{version}`: the bucket must not depend on names that a commit chooses.
enum UploadBucket {
    /// Returns the problem with the address; `nil` if it is valid.
    static func problem(_ parts: AddressText.Parts, isInsecure: Bool) -> String? {
        let isName = parts.host.utf8.allSatisfy {
            (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D || $0 == 0x2E
        }
        // A key pair is a secret. A user without a password is treated as half of one.
        if parts.hasUser {
            return AddressText.passwordProblem("upload", "; name a secret with `credentials:`")
        }
        guard isName, (3...63).contains(parts.host.utf8.count) else {
            return "`upload` names no bucket (3 to 63 of a–z, 0–9, `-` and `.`, nothing in braces): "
                + Printable.quoted(parts.host)
        }
        if parts.path.contains("#") { return "`upload` has a `#` in it" }
        let question = parts.path.firstIndex(of: "?") ?? parts.path.endIndex
        let query = parts.path[question...].dropFirst()
        if query.contains("{") { return "`upload` has a name in braces behind its `?`; those belong to the path" }
        for pair in query.split(separator: "&") {
            let name = pair.prefix { $0 != "=" }
            let value = pair.dropFirst(name.count + 1)
            switch name {
            case "region" where !value.isEmpty: break
            case "use_path_style" where value == "true" || value == "false": break
            case "endpoint" where value.hasPrefix("https://") || value.lowercased().hasPrefix("https%3a"): break
            case "endpoint" where value.hasPrefix("http://") || value.lowercased().hasPrefix("http%3a"):
                if !isInsecure {
                    return "an endpoint by http:// can be read and changed on its way; use https, or add "
                        + "`insecure: true` at the top"
                }
            default:
                return "`upload` to a bucket knows `region=NAME`, `endpoint=https://HOST:PORT` and "
                    + "`use_path_style=true` or `false` behind its `?`, not \(Printable.quoted(String(pair)))"
            }
        }
        return nil
    }
}
