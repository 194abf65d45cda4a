package import HTTPTypes
import Hummingbird

/// A method and path that clients can call, with the access rule. A route cannot be created without a rule.
package struct Route: Sendable {
    package let method: HTTPRequest.Method
    package let pattern: RoutePattern
    package let access: Access
    /// What it is about, which decides which of a caller's roles counts.
    package private(set) var reach: Reach
    /// A one-line summary for `/openapi.json`.
    package let summary: String
    /// The largest request body, in bytes; a larger one is refused with 413.
    package let bodyLimit: Int
    /// The cost of computing and sending its answer, which determines the limits that apply.
    var cost: AnswerCost
    /// Whether a token is accepted as the password of `Basic` although the method is not a reading one. Only for requests that change nothing.
    let acceptsBasic: Bool
    /// The further description for `/openapi.json`; `nil` for pages and files.
    var operation: Operation?
    let handler: @Sendable (AuthorizedRequest) async throws -> Response

    /// 64 KiB. The JSON bodies of the interface are smaller than 1 KiB.
    package static let usualBodyLimit = 64 << 10

    init(
        _ method: HTTPRequest.Method, _ pattern: String, _ access: Access, bodyLimit: Int = Self.usualBodyLimit,
        acceptsBasic: Bool = false, _ summary: String,
        handler: @escaping @Sendable (AuthorizedRequest) async throws -> Response
    ) {
        self.method = method
        self.pattern = RoutePattern(pattern)
        reach = Reach(of: self.pattern)
        self.access = access
        self.summary = summary
        cost = [.open, .signature, .attempt].contains(access) ? .free : .light
        self.bodyLimit = bodyLimit
        self.acceptsBasic = acceptsBasic || method == .get
        self.handler = handler
    }

    /// Returns the same route, which is about something else than its path says.
    func reaching(_ reach: Reach) -> Route {
        var route = self
        route.reach = reach
        return route
    }

    /// Returns the same route with another cost.
    func costing(_ cost: AnswerCost) -> Route {
        var route = self
        route.cost = cost
        return route
    }
}

extension [Route] {
    /// Returns the same routes; those that read have another cost. Answers held in memory stay free.
    func costing(_ cost: AnswerCost) -> [Route] {
        map { $0.method == .get && $0.cost == .light ? $0.costing(cost) : $0 }
    }
}
