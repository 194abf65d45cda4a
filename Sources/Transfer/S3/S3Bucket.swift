import Encodings

/// The bucket of an address `s3://BUCKET/KEY?region=…&endpoint=…&use_path_style=…`.
///
/// The three parameters are those of Go's CDK. The default endpoint is AWS's in the region, which is us-east-1 by default. The bucket's name is in
/// the path if an endpoint is stated or the name has a dot, otherwise in the host (AWS, "Virtual hosting of buckets").
struct S3Bucket: Sendable, Hashable {
    let name: String
    let region: String
    /// `https://HOST[:PORT]`, without the bucket.
    let endpoint: String
    let isPathStyle: Bool

    /// The size limit of a key in bytes of UTF-8 (AWS, "Naming Amazon S3 objects").
    static let maximumKeyLength = 1024

    static func isAddress(_ text: String) -> Bool { text.lowercased().hasPrefix("s3://") }

    /// Parses an address.
    /// - Returns: The bucket, and the key's template, which begins with `/`.
    /// - Throws: `invalid`.
    static func address(_ text: String) throws(TransferError) -> (bucket: S3Bucket, key: String) {
        let rest = text.dropFirst("s3://".count)
        let question = rest.firstIndex(of: "?") ?? rest.endIndex
        let slash = rest[..<question].firstIndex(of: "/") ?? question
        let name = String(rest[..<slash])
        func invalid(_ message: String) -> TransferError {
            TransferError(code: .invalid, operation: "upload to s3://\(name)", message: message)
        }
        // AWS, "General purpose bucket naming rules". Other names cannot be both a host label and a path segment.
        let isName = name.utf8.allSatisfy {
            (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2d || $0 == 0x2e
        }
        guard isName, (3...63).contains(name.utf8.count), !name.hasPrefix("."), !name.hasPrefix("-") else {
            throw invalid("a bucket's name has 3 to 63 of a–z, 0–9, - and .")
        }
        var parameters = ["region": "us-east-1"]
        for pair in rest[question...].dropFirst().split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, ["region", "endpoint", "use_path_style"].contains(parts[0]),
                let value = PercentEncoding.decode(parts[1])
            else { throw invalid("known are ?region=, &endpoint= and &use_path_style=true or false") }
            parameters[parts[0]] = value
        }
        let region = parameters["region"] ?? ""
        let isRegion = region.utf8.allSatisfy {
            (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2d || $0 == 0x5f
        }
        guard isRegion, (1...64).contains(region.utf8.count) else {
            throw invalid("region= is not the name of a region")
        }
        let endpoint = parameters["endpoint"] ?? "https://s3.\(region).amazonaws.com"
        let read = try TransferURL(endpoint, operation: "upload to s3://\(name)")
        guard ["https", "http"].contains(read.scheme), read.path == "/", read.query == nil, read.user == nil else {
            throw invalid("endpoint= is a scheme, a host and a port, as in https://s3.example.com:9000")
        }
        let style = parameters["use_path_style"]
        guard style == nil || style == "true" || style == "false" else {
            throw invalid("use_path_style is true or false")
        }
        // AWS's certificate covers a single label before its domain, so it does not match names with a dot.
        let isPathStyle = style.map { $0 == "true" } ?? (parameters["endpoint"] != nil || name.contains("."))
        return (
            S3Bucket(name: name, region: region, endpoint: read.origin, isPathStyle: isPathStyle),
            String(rest[slash..<question])
        )
    }

    /// The host of requests, with its port.
    var host: String {
        let host = endpoint[(endpoint.firstRange(of: "://")?.upperBound ?? endpoint.startIndex)...]
        return isPathStyle ? String(host) : "\(name).\(host)"
    }

    /// The scheme of the endpoint with `://`.
    var scheme: String { endpoint.hasPrefix("http://") ? "http://" : "https://" }

    /// Returns the path of an object, or of the bucket. Each segment is encoded as signatures require it: all but the unreserved characters.
    func path(_ key: String) -> String {
        let encoded = PercentEncoding.encode(path: key)
        return (isPathStyle ? "/\(name)" : "") + (key.isEmpty && isPathStyle ? "" : "/" + encoded)
    }
}
