import HTTPTypes

/// Every route there is. The server answers from this table alone, so a route without a rule cannot be reached.
package struct RouteTable: Sendable {
    package let routes: [Route]

    /// Routes, in their order, by the first segment of the paths that they can match: most requests are compared with a few of a hundred.
    private let byFirst: [Substring: [Route]]
    /// Those that begin with a parameter, for every other path.
    private let others: [Route]

    package init(_ routes: [Route]) {
        self.routes = routes
        others = routes.filter { $0.pattern.first == nil }
        let names = Set(routes.compactMap { $0.pattern.first.map { Substring($0) } })
        byFirst = Dictionary(
            names.map { name in
                (name, routes.filter { $0.pattern.first.map { Substring($0) } == name || $0.pattern.first == nil })
            }
        ) { $1 }
    }

    enum Match: Sendable {
        case route(Route, [String: String])
        /// The path exists with other methods.
        case otherMethods([String])
        case nothing
    }

    /// A route for a path as it was sent, without its query. HEAD is answered by GET's route.
    func match(_ method: HTTPRequest.Method, path: String) -> Match {
        let wanted = method == .head ? .get : method
        var methods: [String] = []
        guard let segments = RoutePattern.segments(of: path), let first = segments.first else { return .nothing }
        for route in byFirst[first] ?? others {
            guard let parameters = route.pattern.match(segments) else { continue }
            if route.method == wanted { return .route(route, parameters) }
            methods.append(route.method.rawValue)
            if route.method == .get { methods.append("HEAD") }
        }
        return methods.isEmpty ? .nothing : .otherMethods(methods)
    }
}
