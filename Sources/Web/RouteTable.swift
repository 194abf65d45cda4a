import HTTPTypes

/// Every route there is. The server answers from this table alone, so a route without a rule cannot be reached.
package struct RouteTable: Sendable {
    package let routes: [Route]

    package init(_ routes: [Route]) { self.routes = routes }

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
        for route in routes {
            guard let parameters = route.pattern.match(path) else { continue }
            if route.method == wanted { return .route(route, parameters) }
            methods.append(route.method.rawValue)
            if route.method == .get { methods.append("HEAD") }
        }
        return methods.isEmpty ? .nothing : .otherMethods(methods)
    }
}
