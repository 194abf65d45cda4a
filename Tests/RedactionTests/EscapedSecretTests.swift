import TestSupport
import Testing

@testable import Redaction

/// Secrets as real programs escape them. The output of each program is recorded here, so the program is not needed, and our beliefs about it do not
/// matter.
@Suite struct EscapedSecretTests {
    /// A program's output for one of the secrets.
    struct Written: CustomTestStringConvertible, Sendable {
        let by: String
        let text: String
        var testDescription: String { by }

        init(_ by: String, _ text: String) { (self.by, self.text) = (by, text) }
    }

    private static let token = "cAnary/7f3a+9=\"q\\z é%w&<b>~*!(it's)"

    static let tokens = [
        Written("Python 3.11 quote", "cAnary/7f3a%2B9%3D%22q%5Cz%20%C3%A9%25w%26%3Cb%3E~%2A%21%28it%27s%29"),
        Written(
            "Python 3.11 quote(safe='')", "cAnary%2F7f3a%2B9%3D%22q%5Cz%20%C3%A9%25w%26%3Cb%3E~%2A%21%28it%27s%29"),
        Written(
            "Python 3.11 quote_plus, urlencode; Go 1.19 QueryEscape",
            "cAnary%2F7f3a%2B9%3D%22q%5Cz+%C3%A9%25w%26%3Cb%3E~%2A%21%28it%27s%29"),
        Written(
            "curl 7.88 --data-urlencode", "cAnary%2f7f3a%2b9%3d%22q%5cz+%c3%a9%25w%26%3cb%3e~%2a%21%28it%27s%29"),
        Written(
            "Node 20.20 encodeURIComponent; jq 1.6 @uri",
            "cAnary%2F7f3a%2B9%3D%22q%5Cz%20%C3%A9%25w%26%3Cb%3E~*!(it's)"),
        Written(
            "Node 20.20 encodeURI; Java 17 toASCIIString; Foundation urlQueryAllowed",
            "cAnary/7f3a+9=%22q%5Cz%20%C3%A9%25w&%3Cb%3E~*!(it's)"),
        Written(
            "Node 20.20 URLSearchParams; Java 17 URLEncoder",
            "cAnary%2F7f3a%2B9%3D%22q%5Cz+%C3%A9%25w%26%3Cb%3E%7E*%21%28it%27s%29"),
        Written("Node 20.20 URL.password", "cAnary%2F7f3a+9%3D%22q%5Cz%20%C3%A9%w&%3Cb%3E~*!(it's)"),
        Written("Node 20.20 URL.search", #"cAnary/7f3a+9=%22q\z%20%C3%A9%w&%3Cb%3E~*!(it%27s)"#),
        Written("Java 17 URI, which leaves what is not ASCII", "cAnary/7f3a+9=%22q%5Cz%20é%25w&%3Cb%3E~*!(it's)"),
        Written("Go 1.19 PathEscape", "cAnary%2F7f3a+9=%22q%5Cz%20%C3%A9%25w&%3Cb%3E~%2A%21%28it%27s%29"),
        Written("Go 1.19 URL.Fragment", "cAnary/7f3a+9=%22q%5Cz%20%C3%A9%25w&%3Cb%3E~*!(it%27s)"),
        Written(
            "PHP urlencode, as its manual says",
            "cAnary%2F7f3a%2B9%3D%22q%5Cz+%C3%A9%25w%26%3Cb%3E%7E%2A%21%28it%27s%29"),
        Written("Node 20.20 JSON.stringify", #"cAnary/7f3a+9=\"q\\z é%w&<b>~*!(it's)"#),
        Written("Python 3.11 dumps; Perl 5.36 JSON::PP; jq 1.6 -a", #"cAnary/7f3a+9=\"q\\z \u00e9%w&<b>~*!(it's)"#),
        Written("Go 1.19 json.Marshal", #"cAnary/7f3a+9=\"q\\z é%w\u0026\u003cb\u003e~*!(it's)"#),
        Written("Foundation JSONEncoder", #"cAnary\/7f3a+9=\"q\\z é%w&<b>~*!(it's)"#),
        Written("PHP json_encode, as its manual says", #"cAnary\/7f3a+9=\"q\\z \u00e9%w&<b>~*!(it's)"#),
        Written(
            ".NET JsonSerializer, as its manual says",
            #"cAnary/7f3a\u002B9=\u0022q\\z \u00E9%w\u0026\u003Cb\u003E~*!(it\u0027s)"#),
        Written("Python 3.11 html.escape", #"cAnary/7f3a+9=&quot;q\z é%w&amp;&lt;b&gt;~*!(it&#x27;s)"#),
        Written("Python 3.11 ElementTree", #"cAnary/7f3a+9=&quot;q\z &#233;%w&amp;&lt;b&gt;~*!(it's)"#),
        Written("Go 1.19 xml.EscapeText", #"cAnary/7f3a+9=&#34;q\z é%w&amp;&lt;b&gt;~*!(it&#39;s)"#),
        Written("jq 1.6 @html", #"cAnary/7f3a+9=&quot;q\z é%w&amp;&lt;b&gt;~*!(it&apos;s)"#),
    ]

    /// It begins with characters that are escaped, and has characters beyond 16 bits.
    private static let symbols = "\"&/+ é😀\u{2028}"

    static let symbolTexts = [
        Written("Python 3.11 quote", "%22%26/%2B%20%C3%A9%F0%9F%98%80%E2%80%A8"),
        Written("Python 3.11 quote_plus", "%22%26%2F%2B+%C3%A9%F0%9F%98%80%E2%80%A8"),
        Written("Go 1.19 PathEscape", "%22&%2F+%20%C3%A9%F0%9F%98%80%E2%80%A8"),
        Written("Python 3.11 dumps", #"\"&/+ \u00e9\ud83d\ude00\u2028"#),
        Written("Go 1.19 json.Marshal", #"\"\u0026/+ é😀\u2028"#),
        Written(".NET JsonSerializer, as its manual says", #"\u0022\u0026/\u002B \u00E9\uD83D\uDE00\u2028"#),
        Written("Python 3.11 ElementTree", "&quot;&amp;/+ &#233;&#128512;&#8232;"),
        Written("Go 1.19 html.EscapeString", "&#34;&amp;/+ é😀\u{2028}"),
    ]

    /// A key of several lines, with a line that is too short to be masked by itself.
    private static let key = "{\n  \"id\": \"a/b+c\",\r\n  \"é\": 1\n}"

    static let keys = [
        Written(
            "Python 3.11 quote",
            "%7B%0A%20%20%22id%22%3A%20%22a/b%2Bc%22%2C%0D%0A%20%20%22%C3%A9%22%3A%201%0A%7D"),
        Written("Python 3.11 quote_plus", "%7B%0A++%22id%22%3A+%22a%2Fb%2Bc%22%2C%0D%0A++%22%C3%A9%22%3A+1%0A%7D"),
        Written("Go 1.19 PathEscape", "%7B%0A%20%20%22id%22:%20%22a%2Fb+c%22%2C%0D%0A%20%20%22%C3%A9%22:%201%0A%7D"),
        Written("Python 3.11 dumps", #"{\n  \"id\": \"a/b+c\",\r\n  \"\u00e9\": 1\n}"#),
        Written("Node 20.20 JSON.stringify", #"{\n  \"id\": \"a/b+c\",\r\n  \"é\": 1\n}"#),
        Written(
            "Python 3.11 ElementTree",
            "{&#10;  &quot;id&quot;: &quot;a/b+c&quot;,&#13;&#10;  &quot;&#233;&quot;: 1&#10;}"),
        Written("Go 1.19 xml.EscapeText", "{&#xA;  &#34;id&#34;: &#34;a/b+c&#34;,&#xD;&#xA;  &#34;é&#34;: 1&#xA;}"),
    ]

    private func redact(_ text: [UInt8], _ redactor: LogRedactor, chunk: Int = .max) -> String {
        var redactor = redactor
        var output: [UInt8] = []
        var rest = text[...]
        while !rest.isEmpty {
            output += redactor.redact(rest.prefix(chunk))
            rest = rest.dropFirst(chunk)
        }
        return String(decoding: output + redactor.finish(), as: UTF8.self)
    }

    private func bytes(_ before: String, _ text: some Sequence<UInt8>, _ after: String) -> [UInt8] {
        var bytes = Array(before.utf8)
        bytes += text
        bytes += after.utf8
        return bytes
    }

    /// Expects the secret to be masked when the text is cut anywhere, comes in pieces of one byte, is wrapped or colored anywhere, and is beside
    /// bytes that are no text.
    private func expectMasked(_ written: Written, secret: String) {
        // given
        let redactor = LogRedactor(secrets: [secret])
        let text = Array(written.text.utf8)
        for cut in 1..<text.count {
            // when
            var cutOnce = redactor
            var shown = cutOnce.redact(bytes("before ", text[..<cut], ""))
            shown += cutOnce.redact(bytes("", text[cut...], " after\n"))
            shown += cutOnce.finish()
            let wrapped = bytes("<", text[..<cut], "\n") + bytes("", text[cut...], ">")
            let colored = bytes("<", text[..<cut], "\u{1B}[31m") + bytes("", text[cut...], ">")
            // then
            #expect(String(decoding: shown, as: UTF8.self) == "before *** after\n", "cut at \(cut)")
            #expect(redact(wrapped, redactor) == "<***>", "wrapped at \(cut)")
            #expect(redact(colored, redactor) == "<***>", "colored at \(cut)")
        }
        let stars = String(repeating: "*", count: text.count)
        #expect(redact(bytes("before ", text, " after"), redactor, chunk: 1) == "before *** after")
        #expect(redact(bytes("<", text, ">"), redactor.forBinary) == "<\(stars)>")
    }

    @Test(.proves(.jobs, "Secrets are masked as programs escape them for URLs, forms, JSON and XML"), arguments: tokens)
    func testThatATokenIsMaskedAsWritersEscapeIt(written: Written) {
        expectMasked(written, secret: Self.token)
    }

    @Test(
        .proves(.jobs, "Secrets are masked as programs escape them for URLs, forms, JSON and XML"),
        arguments: symbolTexts)
    func testThatASecretThatBeginsWithWhatIsEscapedIsMasked(written: Written) {
        expectMasked(written, secret: Self.symbols)
    }

    @Test(.proves(.jobs, "Secrets are masked as programs escape them for URLs, forms, JSON and XML"), arguments: keys)
    func testThatAKeyOfSeveralLinesIsMaskedAsWritersEscapeIt(written: Written) {
        expectMasked(written, secret: Self.key)
    }

    @Test(.proves(.jobs, "Secrets are masked as programs escape them for URLs, forms, JSON and XML"))
    func testThatItsBase64IsMaskedInURLsAndJSON() {
        let redactor = LogRedactor(secrets: ["~~~???>>>"])
        #expect(redact(Array("Basic%20fn5%2BPz8%2FPj4%2B&".utf8), redactor) == "Basic%20***&")
        #expect(redact(Array(#""fn5+Pz8\/Pj4\u002b""#.utf8), redactor) == #""***""#)
    }

    @Test(
        .proves(.jobs, "Secrets are masked as programs escape them for URLs, forms, JSON and XML"),
        arguments: [
            "100% %2 %2g %%%zz %c3%28", #"\ \" \u \u00 \u00zz \ud83d \ud83d\u0041 \ud83d\n \udc00 \u0041 C:\new"#,
            "& && &am &amp;&nbsp; &#; &#x; &#xZZ; &#1114112; &#000000000000043; &lt", "a+b + c ++", "cAnary%2F7f3a",
        ])
    func testThatOtherTextIsAsItWasHoweverItIsCut(text: String) {
        let redactor = LogRedactor(secrets: [Self.token, Self.symbols, Self.key])
        for chunk in 1...text.utf8.count {
            #expect(redact(Array(text.utf8), redactor, chunk: chunk) == text, "by \(chunk)")
        }
    }

    @Test func testThatWhatIsNoEscapeMayBeginOne() {
        let redactor = LogRedactor(secrets: [Self.symbols])
        #expect(redact(Array("%%22&%2F+%20%C3%A9%F0%9F%98%80%E2%80%A8".utf8), redactor, chunk: 1) == "%***")
        #expect(redact(Array("&&quot;&amp;/+ &#233;&#128512;&#8232;".utf8), redactor, chunk: 1) == "&***")
    }

    /// Each case has the escaped text, the shown text, and the secrets.
    @Test(
        .proves(.jobs, "Secrets are masked as programs escape them for URLs, forms, JSON and XML"),
        arguments: [
            // After an escape, an unescaped secret begins.
            ("%2b&%5Cu%20a%2B.", "%2***.", ["b&\\u a+", "+other"]),
            // A sequence that looks like an escape and is none ends one secret and begins another.
            ("abcdefgh%C3%A9%4z%20%C3%A9!.", "abcdefgh%C3%A9***.", ["abcdefghé12345", "%4z é!"]),
        ])
    func testThatASecretThatBeginsAmongEscapesIsMaskedFromItsFirstByte(text: String, shown: String, secrets: [String]) {
        let redactor = LogRedactor(secrets: secrets)
        for chunk in 1...text.utf8.count {
            #expect(redact(Array(text.utf8), redactor, chunk: chunk) == shown, "by \(chunk)")
        }
    }

    @Test(.proves(.jobs, "Secrets are masked as programs escape them for URLs, forms, JSON and XML"))
    func testThatEscapedLineEndsWithinAPossibleSecretAreNotHeldForEver() {
        // given
        var redactor = LogRedactor(secrets: ["/a+"])
        let ends = [UInt8](#"%2F"#.utf8) + (0..<10_000).flatMap { _ in Array("%0A".utf8) }
        // when
        let shown = redactor.redact(ends)
        // then
        #expect(shown == ends)
        #expect(redactor.held.storedCount == 0)
    }

    @Test func testThatALongSecretThatRepeatsItselfIsMaskedWhereverItHasWhatLooksLikeAnEscape() {
        let secret = String(repeating: "\"/+&é ~*'%", count: 500)
        let text = (0..<10).flatMap { _ in Array(secret.utf8) }
        #expect(redact(text, LogRedactor(secrets: [secret])) == "***")
    }
}
