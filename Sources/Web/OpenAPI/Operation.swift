/// A type of the HTTP interface. Its metatype may be shared between threads.
typealias InterfaceType = Codable & Sendable

/// What `/openapi.json` says of a route beside its path and access rule.
struct Operation: Sendable {
    /// A unique name, after which generators of clients name their functions.
    let id: String
    let tag: Tag
    let query: [QueryParameter]
    /// The type of the JSON body; `nil` if the route takes none.
    let body: (any InterfaceType.Type)?
    let answer: Answer
    /// The status of a successful answer.
    let status: Int

    /// The noun that a route is about. The document groups routes by it.
    enum Tag: String, Sendable {
        case bots, integrations, issues, tests, coverage, logs, artifacts, triggers, plan, ledger, outbox, versions
        case retention, tokens, events, system
        case pullRequests = "pull-requests"
    }

    enum Answer: Sendable {
        /// JSON of a type.
        case json(any InterfaceType.Type)
        /// A body of this media type.
        case media(String)
        /// No body.
        case empty
    }
}

/// A parameter in the query of a route.
struct QueryParameter: Sendable {
    let name: String
    let text: String
    let schema: Schema
    var isRequired = false

    /// - Parameters:
    ///   - maximum: The largest number of items.
    ///   - usual: The number of items without the parameter.
    static func limit(_ maximum: Int = 200, usual: Int = 50) -> QueryParameter {
        QueryParameter(
            name: "limit", text: "The most items of the page: 1 to \(maximum), \(usual) by default.", schema: .integer)
    }

    static let before = QueryParameter(
        name: "before", text: "The `next` of the page before.", schema: .string)
    static let after = QueryParameter(
        name: "after", text: "The `next` of the page before.", schema: .string)
    static let attempt = QueryParameter(
        name: "attempt", text: "The attempt, counted from 1; the newest by default.", schema: .integer)
    static let branch = QueryParameter(
        name: "branch", text: "Only integrations of this branch, or of this full name of a ref.", schema: .string)
    static let latestBranch = QueryParameter(
        name: "branch", text: "The branch whose newest integration `latest` means; the default branch without it.",
        schema: .string)
    static let configuration = QueryParameter(
        name: "configuration", text: "Only this configuration.", schema: .string)

    static func text(_ name: String, _ text: String, isRequired: Bool = false) -> QueryParameter {
        QueryParameter(name: name, text: text, schema: .string, isRequired: isRequired)
    }

    /// A parameter that is true without a value, too.
    static func flag(_ name: String, _ text: String) -> QueryParameter {
        QueryParameter(name: name, text: text, schema: .boolean)
    }

    static func number(_ name: String, _ text: String) -> QueryParameter {
        QueryParameter(name: name, text: text, schema: .integer)
    }
}

extension Route {
    /// Returns the same route with its description for `/openapi.json`.
    /// - Parameters:
    ///   - id: A unique name, such as `listBots`.
    ///   - body: The type of the JSON body; `nil` if the route takes none.
    func described(
        _ id: String, _ tag: Operation.Tag, query: [QueryParameter] = [], body: (any InterfaceType.Type)? = nil,
        _ answer: Operation.Answer, status: Int = 200
    ) -> Route {
        var route = self
        route.operation = Operation(id: id, tag: tag, query: query, body: body, answer: answer, status: status)
        return route
    }
}
