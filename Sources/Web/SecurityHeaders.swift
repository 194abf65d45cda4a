import HTTPTypes
import Hummingbird

/// What every answer says to browsers and caches.
struct SecurityHeaders: Sendable {
    /// Whether anybody may read: only then may shared caches keep an answer.
    let isPublic: Bool

    /// Nothing inline, nothing from elsewhere, never in a frame.
    static let pagePolicy =
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
        + "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    /// For data: nothing of it is ever run or drawn as a page of ours.
    static let dataPolicy = "default-src 'none'; frame-ancestors 'none'; sandbox"

    /// Of what lies on the shelf: anybody may read it.
    static let shelf = SecurityHeaders(isPublic: true)

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
            // The reader's own cache may keep what never changes; a shared one may not.
            response.headers[.cacheControl] = "private" + control.dropFirst("public".count)
        case (false, _): response.headers[.cacheControl] = "no-store"
        }
        if !isPublic { response.headers[.vary] = "Authorization" }
    }
}
