import API
import Basics
import HTTPTypes
import Hummingbird
import Storage

extension Response {
    /// Returns a response with a complete body of this type.
    static func body(_ bytes: [UInt8], type: String, status: HTTPResponse.Status = .ok) -> Response {
        var headers = HTTPFields()
        headers[.contentType] = type
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    static let jsonType = "application/json; charset=utf-8"

    static func json(_ value: JSONValue, status: HTTPResponse.Status = .ok) -> Response {
        var bytes: [UInt8] = []
        value.write(to: &bytes)
        bytes.append(UInt8(ascii: "\n"))
        return body(bytes, type: jsonType, status: status)
    }

    /// Returns a response with a type of the HTTP interface.
    static func json(_ answer: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        let bytes = try JSONWriter.bytes(of: answer) + [UInt8(ascii: "\n")]
        var response = body(bytes, type: jsonType, status: status)
        if status == .ok { response.headers[.eTag] = "\"\(Digest.sha256(of: bytes).prefix(32))\"" }
        return response
    }

    /// Returns the same answer, or 304 if the client has it (RFC 9110, section 13.1.2).
    ///
    /// The whole answer is computed: what a list shows may have changed anywhere. What is saved is sending it.
    func conditional(for call: AuthorizedRequest) -> Response {
        guard status == .ok, let tag = headers[.eTag] else { return self }
        var response = self
        guard call.request.method == .get || call.request.method == .head else {
            // The tag would be that of the resource, not of an answer to a change.
            response.headers[.eTag] = nil
            return response
        }
        let conditions = Preconditions(ifNoneMatch: call.request.headers[.ifNoneMatch])
        guard conditions.judge(entityTag: tag, modified: nil) == .notModified else { return self }
        response = Response(status: .notModified, headers: headers)
        response.headers[.contentType] = nil
        return response
    }

    /// Returns a version as the HTTP interface and the JSON index show it.
    static func json(_ record: VersionRecord, _ site: Site) async throws -> Response {
        let downloads = try await site.downloads.counts(of: record.product)
        return try .json(API.Version(record, root: site.configuration.url, downloads: downloads))
    }

    /// Returns a response whose body is made piece by piece, limited by its route's cost (`AnswerCost.export`).
    static func pieces(
        type: String, _ make: @escaping @concurrent @Sendable (inout any ResponseBodyWriter) async throws -> Void
    ) -> Response {
        var headers = HTTPFields()
        headers[.contentType] = type
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { writer in
                try await make(&writer)
                try await writer.finish(nil)
            })
    }

    /// Returns a response of server-sent events (WHATWG HTML, section 9.2). Its headers make nginx pass the events on immediately, even with
    /// buffering on, which is its default. Proxies that respect `no-transform` do not compress them.
    static func events(_ body: ResponseBody) -> Response {
        var headers = HTTPFields()
        headers[.contentType] = "text/event-stream"
        headers[.cacheControl] = "no-store, no-transform"
        if let name = HTTPField.Name("X-Accel-Buffering") { headers[name] = "no" }
        return Response(status: .ok, headers: headers, body: body)
    }

    static func html(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
        body(Array(text.utf8), type: "text/html; charset=utf-8", status: status)
    }

    static func plain(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
        body(Array(text.utf8), type: "text/plain; charset=utf-8", status: status)
    }

    /// Redirects with 302 to a path of this service. `path` begins with one slash and contains no control character: it is built from names.
    static func found(_ path: String) -> Response {
        var headers = HTTPFields()
        headers[.location] = path
        return Response(status: .found, headers: headers)
    }
}
