import Encodings

/// A converter of the locations of a run's results to places.
struct SARIFLocations {
    private let artifacts: [JSON]
    private let bases: JSON
    private let root: SourceRoot
    /// The most bases that refer to other bases. More are treated as a cycle.
    private static let maximumBases = 8

    init(_ run: JSON, root: SourceRoot) {
        artifacts = run["artifacts"].elements ?? []
        bases = run["originalUriBaseIds"]
        self.root = root
    }

    /// Returns the place of a result's first location with a file; `nil` if there is none.
    func first(of result: JSON) -> (path: String, line: Int?, column: Int?)? {
        for location in (result["locations"].elements ?? []).prefix(100) {
            let physical = location["physicalLocation"]
            guard let path = path(physical["artifactLocation"]) else { continue }
            let region = physical["region"]
            return (path, positive(region["startLine"].int), positive(region["startColumn"].int))
        }
        return path(result["analysisTarget"]).map { ($0, nil, nil) }
    }

    private func positive(_ number: Int?) -> Int? { number.flatMap { $0 > 0 ? $0 : nil } }

    private func path(_ location: JSON) -> String? {
        var location = location
        if location["uri"].string == nil, let index = location["index"].int, artifacts.indices.contains(index) {
            location = artifacts[index]["location"]
        }
        guard let uri = location["uri"].string, !uri.isEmpty else { return nil }
        let resolved = resolve(uri, base: location["uriBaseId"].string)
        // A relative URI is percent-encoded like any other (RFC 3986).
        return root.shown(resolved.hasPrefix("file:") ? resolved : PercentEncoding.decodeLeniently(resolved))
    }

    /// Returns the URI after its base's URI, and that after its own base's (section 3.14.14). A base without a URI is the repository's root, which is
    /// also the usual meaning of `%SRCROOT%`.
    private func resolve(_ uri: String, base: String?) -> String {
        var uri = uri
        var base = base
        for _ in 0..<Self.maximumBases {
            guard let name = base, !Self.isAbsolute(uri), uri.utf8.count <= SourceRoot.maximumPathBytes else {
                return uri
            }
            let location = bases[name]
            if let prefix = location["uri"].string {
                uri = prefix.hasSuffix("/") ? prefix + uri : prefix + "/" + uri
            }
            base = location["uriBaseId"].string
        }
        return uri
    }

    private static func isAbsolute(_ uri: String) -> Bool {
        guard !uri.hasPrefix("/") else { return true }
        let scheme = uri.prefix { $0 != ":" && $0 != "/" }
        return scheme.count > 1 && uri.dropFirst(scheme.count).first == ":"
    }
}
