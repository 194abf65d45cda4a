import HTTPTypes

/// All routes. The server answers from this table alone, so a route without an access rule cannot be reached.
package struct RouteTable: Sendable {
    package let routes: [Route]

    /// The routes in their order, by the first segment of the paths that they can match. Most requests are then compared with only a few of about a
    /// hundred routes.
    private let byFirst: [Substring: [Route]]
    /// The routes that begin with a parameter, for all other paths.
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
        /// The path exists only with these other methods.
        case otherMethods([String])
        case nothing
    }

    /// Finds the route for a path, which is given as it was sent, without its query. GET's route also answers HEAD.
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
