import Basics
import Encodings
import HTTPTypes
import Hummingbird
import Model

/// The fields that a form of a page sends (`application/x-www-form-urlencoded`, WHATWG URL, section 5).
struct SentForm: Sendable {
    /// The most fields.
    static let maximumFields = 1000

    private let fields: [(name: String, value: String)]

    /// - Throws: 415 for another content type; 413 for too many fields; 400 for text that is not UTF-8 or has a NUL.
    init(_ bytes: [UInt8], type: String?) throws(Problem) {
        let type = type?.prefix { $0 != ";" }.lowercased()
        guard bytes.isEmpty || type == "application/x-www-form-urlencoded" else {
            throw Problem(415, "This takes a form: `Content-Type: application/x-www-form-urlencoded`.")
        }
        let pairs = bytes.split(separator: UInt8(ascii: "&"))
        guard pairs.count <= Self.maximumFields else {
            throw Problem(413, "The form has more than \(Self.maximumFields) fields, the limit here.")
        }
        var fields: [(String, String)] = []
        for pair in pairs {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decode(parts[0]), let value = Self.decode(parts.count > 1 ? parts[1] : []) else {
                throw Problem(400, "The form is not encoded as a browser encodes one.")
            }
            fields.append((name, value))
        }
        self.fields = fields.map { (name: $0.0, value: $0.1) }
    }

    private static func decode(_ bytes: ArraySlice<UInt8>) -> String? {
        let spaced = bytes.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        return String(validating: spaced, as: UTF8.self).flatMap { PercentEncoding.decode($0) }
    }

    /// Returns the first value of a field without spaces around it; `nil` if it is absent or empty.
    subscript(_ name: String) -> String? { self[all: name].first }

    /// Returns the values of a field that are not empty, without spaces around them.
    subscript(all name: String) -> [String] {
        fields.filter { $0.name == name }.compactMap { field in
            var text = field.value[...].drop { $0.isWhitespace }
            while text.last?.isWhitespace == true { text.removeLast() }
            return text.isEmpty ? nil : String(text)
        }
    }

    /// Compares the form's token with that of its session.
    /// - Throws: 403.
    func check(_ caller: Caller) throws(Problem) {
        guard let csrf = caller.csrf, ConstantTime.areEqual(Array((self["csrf"] ?? "").utf8), Array(csrf.utf8)) else {
            throw Problem(
                403, "This form is not of your session, or is too old. Load its page again, and press the button there."
            )
        }
    }
}

extension Route {
    /// Creates the route of a form. Its handler runs only for a person of the role who signed in with a browser, by a form of a page of this session.
    static func form(
        _ pattern: String, _ role: Role, _ summary: String,
        handler: @escaping @Sendable (AuthorizedRequest, SentForm) async throws -> Response
    ) -> Route {
        Route(.post, pattern, .form(role), summary) { call in
            let form = try SentForm(try await call.body(), type: call.request.headers[.contentType])
            try form.check(call.caller)
            return try await handler(call, form)
        }
    }
}

extension Response {
    /// Redirects with 303 after a form, so that loading the page again does not send the form again (RFC 9110, section 15.4.4).
    static func seeOther(_ path: String) -> Response {
        var headers = HTTPFields()
        headers[.location] = path
        headers[.cacheControl] = "no-store"
        return Response(status: .seeOther, headers: headers)
    }
}
