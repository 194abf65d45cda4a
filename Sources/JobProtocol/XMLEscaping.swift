/// One way in which writers of XML stand for characters that cannot stand for themselves (XML 1.0 section 2.4), so that a secret
/// is found in a report of tests.
struct XMLEscaping: Sendable {
    private let greater: String
    private let quote: String
    private let apostrophe: String
    /// Whether characters beyond ASCII are numbers, as where a writer's encoding is ASCII.
    private let isASCII: Bool

    private init(greater: String = "&gt;", quote: String = "\"", apostrophe: String = "'", isASCII: Bool = false) {
        (self.greater, self.quote, self.apostrophe, self.isASCII) = (greater, quote, apostrophe, isASCII)
    }

    /// What is met, in text and in attributes. Not every mixture of them, since each is a form more to look for.
    static let usual = [
        // libxml2, Java's and Python's writers: text, and attributes.
        Self(), Self(greater: ">"), Self(quote: "&quot;"), Self(greater: ">", quote: "&quot;"),
        // Python's ElementTree, whose usual encoding is ASCII.
        Self(isASCII: true), Self(quote: "&quot;", isASCII: true),
        // XMLCoder, GoogleTest, Apache Commons; Ruby and .NET; Python's html; Go.
        Self(quote: "&quot;", apostrophe: "&apos;"), Self(quote: "&quot;", apostrophe: "&#39;"),
        Self(quote: "&quot;", apostrophe: "&#x27;"), Self(quote: "&#34;", apostrophe: "&#39;"),
    ]

    func escaped(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": bytes += "&amp;".utf8
            case "<": bytes += "&lt;".utf8
            case ">": bytes += greater.utf8
            case "\"": bytes += quote.utf8
            case "'": bytes += apostrophe.utf8
            case _ where isASCII && !scalar.isASCII: bytes += "&#\(scalar.value);".utf8
            default: bytes += String(scalar).utf8
            }
        }
        return bytes
    }
}
