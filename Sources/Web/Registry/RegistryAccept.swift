/// The `Accept` header of a package registry's client (SwiftPM's "Swift Package Registry Service Specification", section 3.5):
/// `application/vnd.swift.registry[.v1][+json|+zip|+swift]`.
enum RegistryAccept {
    private static let tree = "application/vnd.swift.registry"

    /// Checks whether a client accepts the answer.
    /// - Parameters:
    ///   - header: The header's value. If it is absent, or has only other types, the client accepts version 1.
    ///   - kind: The kind of the endpoint's answer: `json`, `zip` or `swift`.
    /// - Throws: 400 for a version that is not a number, 415 for a version other than 1, 406 for another kind.
    static func check(_ header: String?, kind: String) throws(Problem) {
        var problem: Problem?
        for item in (header ?? "").split(separator: ",").prefix(32) {
            let type = item.prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\t" }
            // The client accepts any type (RFC 9110, section 12.5.1).
            if type == "*/*" || type == "application/*" { return }
            guard type.hasPrefix(tree) else { continue }
            guard let found = Self.problem(with: type.dropFirst(tree.count), kind: kind) else { return }
            problem = problem ?? found
        }
        if let problem { throw problem }
    }

    /// Returns whether the client requests an archive by its own type.
    static func wantsArchive(_ header: String?) -> Bool {
        (header ?? "").lowercased().split(separator: ",").contains { $0.contains(tree) && $0.contains("+zip") }
    }

    /// Checks one media type.
    /// - Parameter rest: The text after the tree's name, such as `.v1+json`.
    /// - Returns: `nil` if the type is acceptable.
    private static func problem(with rest: Substring, kind: String) -> Problem? {
        let parts = rest.split(separator: "+", maxSplits: 1, omittingEmptySubsequences: false)
        let version = parts.first ?? ""
        if !version.isEmpty {
            let digits = version.dropFirst(2)
            let isNumber = !digits.isEmpty && digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
            guard version.hasPrefix(".v"), isNumber else { return Problem(400, "invalid API version") }
            guard digits == "1" else { return Problem(415, "unsupported API version; this registry speaks version 1") }
        }
        guard parts.count == 2 else { return nil }
        guard ["json", "zip", "swift"].contains(String(parts[1])) else { return Problem(400, "invalid media type") }
        return parts[1] == kind ? nil : Problem(406, "This is to be had as application/vnd.swift.registry.v1+\(kind).")
    }
}
