import Basics
import Encodings
import HTTPTypes
import Hummingbird
import SignIn

/// The secret of a session, which only the browser's cookie has: 64 hexadecimal digits (32 random bytes). The store keeps its SHA-256.
struct SessionSecret: Sendable, Hashable {
    /// The cookie's name, which `RequestPlace.cookie` completes.
    static let cookie = "martlet"

    private let text: String

    /// Parses a cookie's value. Returns `nil` for anything but the exact form.
    init?(_ text: String) {
        let isHexadecimal = text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        guard text.utf8.count == 64, isHexadecimal else { return nil }
        self.text = text
    }

    private init(bytes: [UInt8]) { text = Hexadecimal.encode(bytes) }

    /// Creates a secret with the system's random generator.
    static func random() -> SessionSecret { SessionSecret(bytes: RandomSecret.bytes(32)) }

    var hash: String { Digest.sha256(of: Array(text.utf8)) }

    /// The token that forms of this session send back. The secret cannot be computed from it.
    var csrf: String {
        let code = Digest.hmacSHA256(key: Array(text.utf8), message: Array("csrf".utf8))
        return Hexadecimal.encode(code)
    }

    /// Returns the session of a request; `nil` if it has none, or several.
    init?(of request: Request, at place: RequestPlace) {
        guard let name = place.cookie(Self.cookie), let value = Cookies.value(name, of: request) else { return nil }
        self.init(value)
    }

    /// Returns the `Set-Cookie` header that gives the browser this session. The browser forgets it when it ends, or after the time that an unused
    /// session lasts.
    func header(at place: RequestPlace) -> String? {
        place.cookie(Self.cookie).map { Cookies.header($0, text, place, seconds: 30 * 86_400) }
    }
}

extension Request {
    /// Whether the client has kept something of this service, such as a session, and sends it back.
    var hasKeptState: Bool { headers[.cookie] != nil }
}

/// Cookies as the service reads and sets them (RFC 6265).
enum Cookies {
    /// Returns the value of a cookie; `nil` if the request has none of this name, or several, of which the service cannot know the right one.
    static func value(_ name: String, of request: Request) -> String? {
        var found: String?
        for header in request.headers[values: .cookie] {
            for pair in header.split(separator: ";") {
                let pair = pair.drop { $0 == " " }
                guard pair.hasPrefix(name), pair.dropFirst(name.count).first == "=" else { continue }
                guard found == nil else { return nil }
                found = String(pair.dropFirst(name.count + 1))
            }
        }
        return found
    }

    /// Returns a `Set-Cookie` header. No script reads the cookie, and no form or picture of another site sends it.
    /// - Parameter seconds: How long the browser keeps it; 0 removes it.
    static func header(_ name: String, _ value: String, _ place: RequestPlace, seconds: Int) -> String {
        "\(name)=\(value); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Lax" + (place.isSecure ? "; Secure" : "")
    }
}
