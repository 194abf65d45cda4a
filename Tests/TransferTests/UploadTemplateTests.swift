import TestSupport
import Testing
import Transfer

@Suite struct UploadTemplateTests {
    private static let base = "https://files.example/kit/{version}/{file}"

    @Test(
        .proves(
            .releases,
            "Uploads: Templates `{product} {version} {branch} {commit} {configuration} {file}`, each value encoded for its place (T1)"
        ),
        arguments: [
            ("sftp://u@h/{product}/{version}/", "sftp://u@h/kit/1.4.2/"),
            ("https://h/{branch}/{commit}/{configuration}/{file}", "https://h/release%252F1.4/abc/debug/kit.tar.zst"),
            ("sftp://h/{branch}/", "sftp://h/release%252F1.4/"),
            ("https://h/x?b={branch}&f={file}", "https://h/x?b=release%2F1.4&f=kit.tar.zst"),
            ("/srv/{branch}/{file}", "/srv/release%2F1.4/kit.tar.zst"),
            ("file:///srv/{version}", "file:///srv/1.4.2"),
            ("https://h/upload?name={file}&v={version}", "https://h/upload?name=kit.tar.zst&v=1.4.2"),
        ])
    func testThatItPutsValuesInTheirPlaces(template: String, expected: String) throws {
        let values = [
            "product": "kit", "version": "1.4.2", "branch": "release/1.4", "commit": "abc", "configuration": "debug",
            "file": "kit.tar.zst",
        ]
        #expect(try UploadTemplate.expand(template, values: values) == expected)
    }

    @Test(
        .proves(
            .releases,
            "Uploads: Templates `{product} {version} {branch} {commit} {configuration} {file}`, each value encoded for its place (T1)"
        ),
        arguments: [
            ("a b", "a%20b"), ("a?b", "a%3Fb"), ("a#b", "a%23b"), ("%2e%2e", "%252e%252e"), ("%2f", "%25252f"),
            ("50%", "50%25"), ("a%252F", "a%2525252F"), ("a%25", "a%252525"), ("a/b", "a%252Fb"),
            ("a;b", "a%3Bb"), ("1.0.0+b1", "1.0.0%2Bb1"), ("größe", "gr%C3%B6%C3%9Fe"), ("🦜", "%F0%9F%A6%9C"),
            ("a@b:c", "a%40b%3Ac"), ("...", "..."), ("{file}", "%7Bfile%7D"), ("a\\b", "a%5Cb"),
        ])
    func testThatAValueStaysOneSegment(value: String, expected: String) throws {
        let url = try UploadTemplate.expand(Self.base, values: ["version": "1.0.0", "file": value])
        #expect(url == "https://files.example/kit/1.0.0/" + expected)
    }

    @Test(
        .proves(
            .releases,
            "Uploads: Templates `{product} {version} {branch} {commit} {configuration} {file}`, each value encoded for its place (T1)"
        ),
        arguments: [
            "", ".", "..", "../x", "a/../../b", "a/..", "/etc/passwd", "a//b", "a/", "..\\x", "a\r\nHost: evil",
            "a\u{0}b",
            "a\u{7f}", "a\u{85}b", String(repeating: "x", count: 256),
        ])
    func testThatItRefusesWhatEncodingDoesNotMakeHarmless(value: String) async {
        for template in [Self.base, "/srv/{version}/{file}", "sftp://h/{file}"] {
            await expectRejection(TransferError.self, \.code, .invalid) {
                try UploadTemplate.expand(template, values: ["version": "1.0.0", "file": value])
            }
        }
    }

    @Test(arguments: [
        ("https://{product}.example/", "stands before the path"), ("{product}/x", "stands before the path"),
        ("https://h/{prodct}/", "{prodct} is unknown"), ("https://h/{version/", "no partner"),
        ("https://h/}/", "no partner"), ("https://h/{commit}/", "no value for {commit}"),
    ])
    func testThatItSaysWhatIsWrongInATemplate(template: String, expected: String) async {
        let error = await expectRejection(TransferError.self, \.code, .invalid) {
            try UploadTemplate.expand(template, values: ["product": "kit", "version": "1.0.0"])
        }
        expectContains(error?.message ?? "", expected)
    }

    @Test func testThatItShowsNoPasswordOfATemplate() async {
        let error = await expectRejection(TransferError.self, \.code, .invalid) {
            try UploadTemplate.expand("https://user:canary-secret@h/{nothing}", values: [:])
        }
        #expect(error?.description.contains("canary-secret") == false)
    }
}
