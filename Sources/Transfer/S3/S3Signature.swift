import Crypto
import Encodings
import Foundation
import Glibc

/// A signer of requests to S3 (AWS, "Authenticating Requests: Using the Authorization Header", signature version 4).
///
/// `CURLOPT_AWS_SIGV4` of libcurl 7.88 is not used. It does not send `x-amz-content-sha256`, which S3 requires, and signs a parameter without a value
/// (`?uploads`) differently from other implementations.
struct S3Signature: Sendable {
    let accessKey: String
    let secret: String
    let region: String

    /// The SHA-256 of an empty body.
    static let emptyPayload = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    /// Signs a request.
    /// - Parameters:
    ///   - path: The encoded path.
    ///   - query: The decoded names and values.
    ///   - headers: Further headers to sign; names in any case.
    ///   - payload: The body's SHA-256 in hexadecimal.
    ///   - time: Seconds since 1970.
    /// - Returns: The header fields to send with the request, including the given ones.
    func headers(
        _ method: String, host: String, path: String, query: [(String, String)], headers: TransferHeaders = [:],
        payload: String, time: Int64
    ) -> TransferHeaders {
        let moment = Self.moment(time)
        var fields = headers
        fields["Host"] = host
        fields["x-amz-content-sha256"] = payload
        fields["x-amz-date"] = moment
        let named = fields.fields.map { (name: $0.name.lowercased(), value: Self.trimmed($0.value)) }
            .sorted { $0.name < $1.name }
        let names = named.map(\.name).joined(separator: ";")
        let request = [
            method, path, Self.query(query), named.map { "\($0.name):\($0.value)\n" }.joined(), names, payload,
        ].joined(separator: "\n")
        let day = String(moment.prefix(8))
        let scope = "\(day)/\(region)/s3/aws4_request"
        let text = "AWS4-HMAC-SHA256\n\(moment)\n\(scope)\n" + Self.sha256(request)
        var key = SymmetricKey(data: Array("AWS4\(secret)".utf8))
        for part in [day, region, "s3", "aws4_request"] { key = SymmetricKey(data: Self.code(part, key)) }
        fields["Authorization"] =
            "AWS4-HMAC-SHA256 Credential=\(accessKey)/\(scope),SignedHeaders=\(names),Signature="
            + Hexadecimal.encode(Self.code(text, key))
        return fields
    }

    /// Returns the query in the form of the URL and of the signature: sorted by name.
    static func query(_ parameters: [(String, String)]) -> String {
        parameters.map { (PercentEncoding.encode($0.0), PercentEncoding.encode($0.1)) }.sorted { $0 < $1 }
            .map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    }

    static func sha256(_ text: String) -> String { Hexadecimal.encode(SHA256.hash(data: Array(text.utf8))) }

    private static func code(_ text: String, _ key: SymmetricKey) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key))
    }

    private static func trimmed(_ text: String) -> String {
        var text = text[...]
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return String(text)
    }

    /// Returns a time in UTC as `20130524T000000Z`.
    private static func moment(_ time: Int64) -> String {
        var seconds = time_t(time)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 32)
        strftime(&text, text.count, "%Y%m%dT%H%M%SZ", &parts)
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
