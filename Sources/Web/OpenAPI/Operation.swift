import HTTPTypes
import Model

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
    /// A request body that is documented as an example; `nil` if the route takes none.
    let example: JSONValue?
    /// The status of a successful answer.
    let status: Int

    /// Checks that each parameter of a request that must have a certain value has one. A script whose variable is empty is told so, instead of
    /// getting the answer to another question.
    /// - Throws: 400.
    func checkQuery(of call: AuthorizedRequest) throws(Problem) {
        for parameter in query where parameter.needsValue && call.hasEmptyQuery(parameter.name) {
            throw Problem(400, "`\(parameter.name)` has no value. Leave the parameter out, or give it one.")
        }
    }

    /// The noun that a route is about. The document groups routes by it.
    enum Tag: String, Sendable, CaseIterable {
        case bots, integrations, issues, tests, coverage, logs, artifacts, triggers, plan, ledger, outbox, versions
        case retention, tokens, events, control, system
        case pullRequests = "pull-requests"

        /// A sentence about the group.
        var text: String {
            switch self {
            case .bots: "Bots: what is watched, and how it is built."
            case .integrations: "Integrations: queued, running and completed runs of a bot."
            case .issues: "Issues: errors, warnings, findings of analyzers and failing tests, through time."
            case .tests: "Tests: results, by configuration and through time."
            case .coverage: "Test coverage."
            case .logs: "Logs, also while they are written."
            case .artifacts: "Archived files of integrations."
            case .triggers: "What triggers did: scripts, publications, uploads."
            case .plan: "What the next push would run."
            case .ledger: "Webhooks, deliveries and moved refs."
            case .outbox: "Messages to other systems."
            case .versions: "Published versions of products."
            case .retention: "Removal of old integrations."
            case .tokens: "Tokens of the interface."
            case .events: "Changes as server-sent events."
            case .control: "Pauses of the service and of bots."
            case .system: "Health, metrics, badges and trays."
            case .pullRequests: "Pull requests and their approval."
            }
        }
    }

    enum Answer: Sendable {
        /// JSON of a type.
        case json(any InterfaceType.Type)
        /// A body of this media type.
        case media(String)
        /// A body of one of these media types.
        case medias([String])
        /// No body.
        case empty
    }
}

/// A parameter in the query of a route.
struct QueryParameter: Sendable {
    let name: String
    let text: String
    let schema: Schema
    /// The values of a parameter that takes certain words only.
    var words: [String] = []
    /// A regular expression (ECMA-262) that every value matches.
    var pattern: String?
    /// The smallest value of a number. A larger number than a route supports is read as the largest.
    var minimum: Int64?
    var example: JSONValue?
    var isRequired = false

    /// Whether an empty value is refused. An empty text is as no text.
    var needsValue: Bool { schema == .integer || !words.isEmpty || pattern != nil }

    /// The parameter as OpenAPI 3.1 has it.
    var json: JSONValue {
        guard case .object(var members) = schema.json else { return schema.json }
        if !words.isEmpty { members.append(.init(key: "enum", value: .array(words.map { .string($0) }))) }
        if let pattern {
            members.append(.init(key: "pattern", value: .string(pattern)))
        } else if isRequired, words.isEmpty, case .string = schema {
            members.append(.init(key: "minLength", value: .integer(1)))
        }
        if let minimum { members.append(.init(key: "minimum", value: .integer(minimum))) }
        var parameter: [JSONValue.Member] = [
            .init(key: "name", value: .string(name)), .init(key: "in", value: "query"),
            .init(key: "required", value: .bool(isRequired)), .init(key: "description", value: .string(text)),
            .init(key: "schema", value: .object(members)),
        ]
        if let example { parameter.append(.init(key: "example", value: example)) }
        return .object(parameter)
    }

    /// - Parameters:
    ///   - maximum: The largest number of items.
    ///   - usual: The number of items without the parameter.
    static func limit(_ maximum: Int = 200, usual: Int = 50) -> QueryParameter {
        QueryParameter(
            name: "limit", text: "The most items of the page: 1 to \(maximum), \(usual) by default.", schema: .integer,
            minimum: 1, example: 20)
    }

    static let before = QueryParameter(
        name: "before", text: "The `next` of the page before.", schema: .integer, minimum: 0)
    /// The `next` of a listing of versions, which is a version.
    static let beforeVersion = QueryParameter(
        name: "before", text: "The `next` of the page before, a version.", schema: .string,
        pattern: #"^(0|[1-9][0-9]{0,8})[.](0|[1-9][0-9]{0,8})[.](0|[1-9][0-9]{0,8})$"#, example: "1.4.2")
    static let after = QueryParameter(
        name: "after", text: "The `next` of the page before.", schema: .integer, minimum: 0)
    static let attempt = QueryParameter(
        name: "attempt", text: "The attempt, counted from 1; the newest by default.", schema: .integer, minimum: 1,
        example: 1)
    static let branch = text(
        "branch", "Only integrations of this branch, or of this full name of a ref.", example: "main")
    static let latestBranch = text(
        "branch", "The branch whose newest integration `latest` means; the default branch without it.", example: "main")
    static let configuration = QueryParameter(
        name: "configuration", text: "Only this configuration.", schema: .string, pattern: "^\(Name.pattern)$",
        example: "debug")

    static func text(
        _ name: String, _ text: String, example: JSONValue? = nil, isRequired: Bool = false
    ) -> QueryParameter {
        QueryParameter(name: name, text: text, schema: .string, example: example, isRequired: isRequired)
    }

    /// A parameter that takes one of these words.
    static func word(_ name: String, _ text: String, _ words: [String]) -> QueryParameter {
        QueryParameter(
            name: name, text: text, schema: .string, words: words, example: words.first.map { .string($0) })
    }

    /// A parameter that takes one of these words.
    static func word<Word: RawRepresentable & CaseIterable>(
        _ name: String, _ text: String, _ type: Word.Type
    ) -> QueryParameter where Word.RawValue == String {
        word(name, text, type.allCases.map(\.rawValue))
    }

    /// A parameter that is true without a value, too.
    static func flag(_ name: String, _ text: String) -> QueryParameter {
        QueryParameter(name: name, text: text, schema: .boolean)
    }

    static func number(_ name: String, _ text: String, minimum: Int64 = 0) -> QueryParameter {
        QueryParameter(name: name, text: text, schema: .integer, minimum: minimum)
    }
}

extension Route {
    /// Returns the same route with its description for `/openapi.json`.
    /// - Parameters:
    ///   - id: A unique name, such as `listBots`.
    ///   - body: The type of the JSON body; `nil` if the route takes none.
    ///   - example: A body for the document.
    func described(
        _ id: String, _ tag: Operation.Tag, query: [QueryParameter] = [], body: (any InterfaceType.Type)? = nil,
        example: JSONValue? = nil, _ answer: Operation.Answer, status: Int = 200
    ) -> Route {
        var route = self
        // Every one of these accepts `latest` instead of a number.
        let meansLatest = pattern.description.contains("/{bot}/integrations/{number}")
        route.operation = Operation(
            id: id, tag: tag, query: query + (meansLatest ? [.latestBranch] : []), body: body, answer: answer,
            example: example, status: status)
        return route
    }
}
