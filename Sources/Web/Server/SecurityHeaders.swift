import HTTPTypes
import Hummingbird

/// The security and caching headers of every answer.
struct SecurityHeaders: Sendable {
    /// Whether anybody may read the answer: only then may shared caches store it.
    let isPublic: Bool
    /// The header in which a proxy names the person; `nil`: none.
    var personHeader: String?

    /// Forbids inline scripts and styles, content from other origins, and frames.
    static let pagePolicy =
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
        + "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    /// For data, which browsers must neither run nor show as a page of this service.
    static let dataPolicy = "default-src 'none'; frame-ancestors 'none'; sandbox"

    /// For the worker that all tabs of a browser share: it may only read this service's events.
    static let workerPolicy = "default-src 'none'; connect-src 'self'; frame-ancestors 'none'"

    /// For cached files (`FileCache`), which anybody may read.
    static let fileCache = SecurityHeaders(isPublic: true)

    func apply(to response: inout Response) {
        let isPage = response.headers[.contentType]?.hasPrefix("text/html") == true
        if response.headers[.contentSecurityPolicy] == nil {
            response.headers[.contentSecurityPolicy] = isPage ? Self.pagePolicy : Self.dataPolicy
        }
        response.headers[.xContentTypeOptions] = "nosniff"
        if let name = HTTPField.Name("Referrer-Policy") { response.headers[name] = "same-origin" }
        if let name = HTTPField.Name("X-Frame-Options") { response.headers[name] = "DENY" }
        if let name = HTTPField.Name("Cross-Origin-Opener-Policy") { response.headers[name] = "same-origin" }
        let isCacheable = response.status.code < 400
        switch (isPublic && isCacheable, response.headers[.cacheControl]) {
        case (true, nil): response.headers[.cacheControl] = "no-cache"
        case (true, _): break
        case (false, let control?) where isCacheable && control.hasPrefix("public"):
            // The reader's own cache may store what never changes; a shared cache may not.
            response.headers[.cacheControl] = "private" + control.dropFirst("public".count)
        case (false, _): response.headers[.cacheControl] = "no-store"
        }
        // A page depends on the session: its bar, its forms and their token.
        let varying =
            (isPublic ? [] : ["Authorization"])
            + (isPublic && !isPage ? [] : ["Cookie"] + [personHeader].compactMap(\.self))
        for name in varying { response.vary(by: name) }
    }
}
