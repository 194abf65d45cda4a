import HTTPTypes
import Hummingbird
import NIOCore

/// Whether and how answers are compressed (RFC 9110, section 8.4). Each form of an answer has an entity tag of its own.
enum ContentCoding {
    /// The size from which an answer is compressed. A smaller one fits into one packet.
    static let minimumBytes = 1024
    /// What the entity tag of a compressed answer ends with, before its quotation mark.
    static let tagSuffix = "-gzip"

    /// Returns whether an answer of this type becomes smaller. Archives, images and unknown bytes do not, and events are sent at once.
    static func isCompressible(_ type: String) -> Bool {
        let type = type.prefix { $0 != ";" }.lowercased()
        if type == "text/event-stream" { return false }
        return type.hasPrefix("text/") || type.hasSuffix("+json") || type.hasSuffix("+xml")
            || ["application/json", "application/xml", "application/javascript"].contains(type)
    }

    /// Returns the entity tag of the compressed form.
    static func coded(_ tag: String) -> String { tag.hasSuffix("\"") ? tag.dropLast() + tagSuffix + "\"" : tag }

    /// Adds the tags of the answers as they are to a list of entity tags, since handlers compare with those.
    static func decoded(_ list: String) -> String {
        let tags = list.split(separator: ",").filter { $0.contains(tagSuffix + "\"") }
        return ([list] + tags.map { String($0).replacing(tagSuffix + "\"", with: "\"") }).joined(separator: ", ")
    }
}

extension AuthorizedRequest {
    /// Whether an answer to this request may be compressed.
    ///
    /// An answer with a part of the request and a secret in it tells the secret by its size (BREACH, CVE-2013-3587). So no page is compressed that
    /// another site's page has asked for with this client's cookies. Browsers name such requests in `Sec-Fetch-Site`; a browser with cookies that
    /// does not send the header gets its pages as they are.
    var acceptsCoding: Bool {
        guard request.method == .get || request.method == .head, request.headers[.range] == nil,
            AcceptedCodings(request.headers[.acceptEncoding]).prefersGzip
        else { return false }
        guard request.hasKeptState else { return true }
        let site = HTTPField.Name("Sec-Fetch-Site").flatMap { request.headers[$0] }
        return site == "same-origin" || site == "none"
    }
}

extension Response {
    /// Whether an answer has two forms, as it is and compressed.
    private var isCompressible: Bool {
        guard status == .ok, headers[.contentEncoding] == nil, let type = headers[.contentType],
            headers[.cacheControl]?.contains("no-transform") != true
        else { return false }
        return ContentCoding.isCompressible(type) && (body.contentLength ?? .max) >= ContentCoding.minimumBytes
    }

    /// Returns the answer in the form that the client prefers.
    func coded(for call: AuthorizedRequest) -> Response {
        coded(for: call) { body in
            ResponseBody { writer in
                let stream = try GzipStream()
                try await body.write(GzipWriter(stream: stream, inner: writer))
            }
        }
    }

    /// Returns the answer in the form that the client prefers.
    /// - Parameter compressing: Makes the compressed body.
    func coded(for call: AuthorizedRequest, _ compressing: (ResponseBody) -> ResponseBody) -> Response {
        guard isCompressible else { return self }
        var response = self
        response.vary(by: "Accept-Encoding")
        guard call.acceptsCoding else { return response }
        response.headers[.contentEncoding] = "gzip"
        // Ranges are those of the answer as it is.
        response.headers[.acceptRanges] = nil
        if let tag = headers[.eTag] { response.headers[.eTag] = ContentCoding.coded(tag) }
        response.body = compressing(body)
        return response
    }

    /// Adds a name to `Vary`.
    mutating func vary(by name: String) {
        headers[.vary] = [headers[.vary], name].compactMap(\.self).joined(separator: ", ")
    }

    /// Names the form of an answer that the client has, in an answer that says so. Its handler knows only the tag of the answer as it is.
    mutating func nameForm(of request: Request) {
        guard status == .notModified, let tag = headers[.eTag], let list = request.headers[.ifNoneMatch] else { return }
        vary(by: "Accept-Encoding")
        if list.contains(ContentCoding.coded(tag)) { headers[.eTag] = ContentCoding.coded(tag) }
    }
}

/// Compresses what is written to it.
private struct GzipWriter: ResponseBodyWriter {
    let stream: GzipStream
    var inner: any ResponseBodyWriter

    @concurrent mutating func write(_ buffer: ByteBuffer) async throws {
        try Task.checkCancellation()
        let bytes = try compress(buffer, isLast: false)
        if !bytes.isEmpty { try await inner.write(ByteBuffer(bytes: bytes)) }
    }

    @concurrent consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
        try await inner.write(ByteBuffer(bytes: try compress(ByteBuffer(), isLast: true)))
        try await inner.finish(trailingHeaders)
    }

    private func compress(_ buffer: ByteBuffer, isLast: Bool) throws -> [UInt8] {
        try buffer.withUnsafeReadableBytes { raw in try stream.compress(raw, isLast: isLast) }
    }
}
