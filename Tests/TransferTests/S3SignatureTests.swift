import TestSupport
import Testing

@testable import Transfer

/// The examples of AWS, "Signature Calculations for the Authorization Header: Transferring Payload in a Single Chunk".
@Suite struct S3SignatureTests {
    private static let signature = S3Signature(
        accessKey: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", region: "us-east-1")
    /// 2013-05-24, midnight UTC.
    private static let time: Int64 = 1_369_353_600

    private struct Example: Sendable {
        var method: String
        var path: String
        var query: [(String, String)] = []
        var headers: TransferHeaders = [:]
        var payload = S3Signature.emptyPayload
        var signature: String
    }

    private static let examples = [
        Example(
            method: "GET", path: "/test.txt", headers: ["Range": "bytes=0-9"],
            signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
        Example(
            method: "PUT", path: "/test%24file.text",
            headers: ["Date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY"],
            payload: "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
            signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"),
        Example(
            method: "GET", path: "/", query: [("lifecycle", "")],
            signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        Example(
            method: "GET", path: "/", query: [("prefix", "J"), ("max-keys", "2")],
            signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
    ]

    @Test(.proves(.releases, "Uploads: S3 (sigv4), against a strict server"), arguments: 0..<4)
    func testThatItSignsAsTheExamplesDo(number: Int) {
        let example = Self.examples[number]
        let fields = Self.signature.headers(
            example.method, host: "examplebucket.s3.amazonaws.com", path: example.path, query: example.query,
            headers: example.headers, payload: example.payload, time: Self.time)
        #expect(fields["Authorization"]?.hasSuffix("Signature=" + example.signature) == true)
        #expect(fields["x-amz-content-sha256"] == example.payload)
        #expect(fields["x-amz-date"] == "20130524T000000Z")
    }

    @Test(
        .proves(.releases, "Uploads: S3 (sigv4), against a strict server"),
        arguments: [
            ("s3://acme-files/kit/{version}/", "https://acme-files.s3.us-east-1.amazonaws.com/kit/1/a"),
            ("s3://acme-files/kit?region=eu-west-1", "https://acme-files.s3.eu-west-1.amazonaws.com/kit/a"),
            ("s3://acme/k/?endpoint=https://s3.example:9000", "https://s3.example:9000/acme/k/a"),
            (
                "s3://acme/k/?endpoint=https%3A%2F%2Fs3.example&use_path_style=false&region=x",
                "https://acme.s3.example/k/a"
            ),
            ("s3://acme/{branch}/{file}", "https://acme.s3.us-east-1.amazonaws.com/release%252F1.4/a"),
        ])
    func testThatAnAddressNamesBucketAndKey(template: String, url: String) throws {
        let target = try UploadTarget(
            UploadFile(path: "/a", name: "a", sha256: "", size: 0), template: template,
            values: ["version": "1", "branch": "release/1.4"], number: 1, count: 1, tell: nil)
        guard case .bucket(let bucket) = target.place else {
            Issue.record("no bucket")
            return
        }
        #expect(bucket.scheme + bucket.host + bucket.path(target.url) == url)
    }

    @Test(arguments: [
        ("s3://Acme/", "a–z"), ("s3://ab/", "3 to 63"), ("s3://{product}/", "a–z"),
        ("s3://acme/?endpoint=ftp://h", "endpoint="), ("s3://acme/?endpoint=https://h/path", "endpoint="),
        ("s3://acme/?acl=public", "known are"), ("s3://acme/?region=a/b", "region="),
        ("s3://acme/?use_path_style=yes", "true or false"), ("s3://acme/../x", ".. component"),
    ])
    func testThatItSaysWhatIsWrongInAnAddress(template: String, expected: String) {
        let error = #expect(throws: TransferError.self) {
            try UploadTarget(
                UploadFile(path: "/a", name: "a", sha256: "", size: 0), template: template, values: [:], number: 1,
                count: 1, tell: nil)
        }
        #expect(error?.code == .invalid)
        #expect(error?.message.contains(expected) == true, "\(error?.message ?? "")")
    }

    @Test func testThatAFileIsCutTheSameWayEachTime() {
        for size: Int64 in [S3Parts.threshold, 64 << 20, 8_000 << 20, (1 << 40) + 1] {
            let parts = S3Parts(UploadFile(path: "/a", name: "a", sha256: "", size: size))
            #expect(Int64(parts.count) <= S3Parts.maximumCount)
            #expect((1...parts.count).reduce(Int64(0)) { $0 + parts.count($1) } == size)
            #expect((1..<parts.count).allSatisfy { parts.count($0) >= 5 << 20 })
            #expect(parts.count(parts.count) > 0)
        }
    }
}
