/// Turns the locations of a run's results into places.
struct SARIFLocations {
    private let artifacts: [JSON]
    private let bases: JSON
    private let root: SourceRoot
    /// More bases upon bases than this are a circle.
    private static let maximumBases = 8

    init(_ run: JSON, root: SourceRoot) {
        artifacts = run["artifacts"].elements ?? []
        bases = run["originalUriBaseIds"]
        self.root = root
    }

    /// The place of a result's first location that names a file.
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
        return root.shown(resolved.hasPrefix("file:") ? resolved : PercentEncoding.decode(resolved))
    }

    /// Puts the base's URI before it, and the base's base before that (section 3.14.14). A base without a URI is the
    /// repository's root, as `%SRCROOT%` is everywhere.
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
