import API
import HTTPTypes
package import Hummingbird
package import Integrations

/// An error in the form that clients see: RFC 9457 (`application/problem+json`). It never contains a path, a query, a version number of software or a
/// secret.
package struct Problem: Error, Sendable, Hashable {
    package let status: Int
    package let title: String
    package let detail: String
    /// The methods for the `Allow` header of 405.
    var allow: String?
    /// The seconds for the `Retry-After` header of 429.
    var retryAfter: Int64?

    package init(_ status: Int, _ detail: String) {
        self.status = status
        self.title = Self.titles[status] ?? "Error"
        self.detail = detail
    }

    package init(_ error: OperationError) {
        let status =
            switch error.code {
            case .notFound: 404
            case .invalid: 400
            case .unauthenticated: 401
            case .conflict: 409
            case .tooLarge: 413
            case .unavailable: 503
            case .internal: 500
            }
        self.init(status, error.code == .internal ? "The service failed; its log has the cause." : error.message)
    }

    /// Returns a 503 for a limit that is reached; `Retry-After` states when to try again.
    static func busy(_ detail: String) -> Problem { Problem(503, detail) }

    static let notFound = Problem(404, "There is nothing here.")
    /// What each 401 has in `WWW-Authenticate` (RFC 9110, section 11.6.1; RFC 6750, section 3).
    static let challenge = "Bearer realm=\"martlet\""

    /// What a caller without a token or session is told.
    static let needsToken = Problem(
        401, "This needs a token: send `Authorization: Bearer mt_…` (martlet token create).")
    static let endedSession = Problem(401, "Your session has ended. Sign in again.")
    static let `internal` = Problem(500, "The service failed; its log has the cause.")

    private static let titles = [
        400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
        406: "Not Acceptable", 409: "Conflict", 410: "Gone", 412: "Precondition Failed", 413: "Content Too Large",
        421: "Misdirected Request", 429: "Too Many Requests",
        415: "Unsupported Media Type", 416: "Range Not Satisfiable", 500: "Internal Server Error",
        503: "Service Unavailable",
    ]

    package var response: Response {
        let problem = API.Problem(type: "about:blank", title: title, status: status, detail: detail)
        // Its strings and number can always be encoded.
        let body = (try? JSONWriter.bytes(of: problem)) ?? []
        var response = Response.body(
            body + [UInt8(ascii: "\n")], type: "application/problem+json", status: .init(code: status))
        if status == 401 { response.headers[.wwwAuthenticate] = Self.challenge }
        if status == 503 { response.headers[.retryAfter] = "5" }
        if let retryAfter { response.headers[.retryAfter] = String(retryAfter) }
        if let allow { response.headers[.allow] = allow }
        return response
    }
}
