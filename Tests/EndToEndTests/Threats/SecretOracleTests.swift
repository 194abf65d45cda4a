import TestSupport
import Testing

/// Shows that the threats' tests can find secrets.
@Suite struct SecretOracleTests {
    private static let secret = "cAnary/7f3a+9=\"q\\z é%w&<b>~*!(it's)😀"

    @Test(
        .proves(.jobs, "Secrets are masked as programs escape them for URLs, forms, JSON and XML"),
        arguments: [
            ("as it is", "cAnary/7f3a+9=\"q\\z é%w&<b>~*!(it's)😀"), ("as it is", "cAn\nary/\u{1B}[31m7f3"),
            ("percent-encoded", "cAnary%2F7"), ("percent-encoded", "%3d%22q%5cz%20%c3%a9"),
            ("as a form", "9%3D%22q%5Cz+%C3%A9"),
            ("in JSON", #"9=\"q\\z \u00e9%"#), ("in JSON", #"9\u003D\u0022q\\z \u00E9"#),
            ("in JSON", #"it\u0027s)\uD83d\ude00"#),
            ("in JSON", #"ary\/7f3a"#), ("in XML", "&quot;q\\z &#233;%"), ("in XML", "9=&#x22;q\\z &#xE9;"),
            ("in XML", "it&apos;s)&#128512;"), ("hexadecimal", "f63416e6172792f37"),
            ("hexadecimal", "63416E6172792F37"),
            ("in Base64", "Y0FuYXJ5LzdmM2E"), ("in Base64", "eGNBbmFyeS83ZjNh"), ("in Base64", "eHhjQW5hcnkvN2Yz"),
            ("in Base64", "_w6kldyY8Yj5-KiEoaXQncyk"),
        ])
    func testThatItFindsAPart(way: String, text: String) {
        #expect(SecretOracle(Self.secret).ways(in: Array("x: \(text) .".utf8)).contains(way))
    }

    @Test func testThatItFindsNothingInWhatIsMaskedOrAnother() {
        let text = #"cAnary/ *** 7f3a+9= %2F%zz \u00 \ud83d &amp; &#; "Y0FuYXJ5L***MmEr" 63416e61 ***"#
        #expect(SecretOracle(Self.secret).ways(in: Array(text.utf8)) == [])
    }
}
