import Basics
import Crypto
import Encodings
import Foundation
import Synchronization
import Testing
package import Transfer

extension FakeTransport {
    package func perform(_ request: TransferRequest) async throws(TransferError) -> TransferResponse {
        guard let answer = try respond(to: request) else {
            for await _ in AsyncStream<Never>.makeStream().stream {}
            throw error(.canceled, request, "it was canceled")
        }
        if let witness = state.withLock({ $0.witness }) { await witness(request.url) }
        if request.destination == .head { return TransferResponse(status: answer.status, headers: answer.headers) }
        var limit = request.limits.response
        if case .file = request.destination, !answer.isSuccess { limit = 64 << 10 }
        guard answer.body.count <= limit else {
            throw error(.tooLarge, request, "the answer is larger than the limit of \(limit) bytes")
        }
        switch request.destination {
        case .memory, .head: return answer
        case .digest: return hashed(answer)
        case .file(let path):
            guard !FileManager.default.fileExists(atPath: path), let file = fopen(path, "wx") else {
                throw error(.file, request, "\(path) cannot be written")
            }
            defer { fclose(file) }
            guard answer.isSuccess else {
                unlink(path)
                return answer
            }
            guard fwrite(answer.body, 1, answer.body.count, file) == answer.body.count else {
                throw error(.file, request, "\(path) cannot be written")
            }
            return hashed(answer)
        }
    }

    package func stream(_ request: TransferRequest) async throws(TransferError) -> TransferStream {
        guard let answer = try respond(to: request) else { throw error(.timedOut, request, "no answer came") }
        let body = AsyncThrowingStream<[UInt8], any Error> { continuation in
            if !answer.body.isEmpty { continuation.yield(answer.body) }
            continuation.finish()
        }
        return TransferStream(status: answer.status, headers: answer.headers, body: body)
    }

    /// - Returns: `nil` if no answer ever comes.
    private func respond(to request: TransferRequest) throws(TransferError) -> TransferResponse? {
        if Task.isCancelled { throw error(.canceled, request, "it was canceled") }
        try check(request)
        let bytes = try content(of: request)
        let (failure, isKnown, isForbidden) = state.withLock { state in
            state.count += 1
            state.unread.append(
                Request(
                    method: request.method, url: request.url, headers: request.headers, body: bytes,
                    target: request.target, credentials: request.credentials, envelope: request.envelope,
                    limits: request.limits))
            let isKnown =
                state.answers["\(request.method.rawValue) \(request.url)"] != nil
                || state.origins.contains { request.url.hasPrefix($0) }
            let isForbidden = state.forbidden.contains {
                $0.method == request.method && request.url.hasPrefix($0.prefix)
            }
            let lost = state.lost.first { request.url.hasSuffix($0) }
            if let lost { state.lost.remove(lost) }
            return (lost == nil ? state.failures[state.count] : .after(.interrupted), isKnown, isForbidden)
        }
        if isForbidden {
            Issue.record("\(request.method.rawValue) \(request.url) was forbidden", sourceLocation: sourceLocation)
            throw error(.denied, request, "the test forbade it")
        }
        guard isKnown else {
            Issue.record(
                "\(request.method.rawValue) \(request.url): nothing is served there; say serve(_:) or answer(_:_:with:) before",
                sourceLocation: sourceLocation)
            throw error(.unreachable, request, "nothing is served there")
        }
        switch failure {
        case nil: return act(request, bytes)
        case .before(let code):
            var error = error(code, request, "the test made it fail")
            error.mayHaveArrived = false
            throw error
        case .after(let code):
            _ = act(request, bytes)
            throw error(code, request, "the test lost the answer")
        case .status(let status): return TransferResponse(status: status)
        case .truncation: return act(request, Array(bytes.dropLast()))
        case .breaking:
            _ = act(request, Array(bytes.prefix(bytes.count / 2)))
            throw error(.interrupted, request, "the test broke the connection")
        case .silence: return nil
        case .silenceAfter:
            _ = act(request, bytes)
            return nil
        }
    }

    /// Executes a request as a server does by RFC 9110 and RFC 4918.
    private func act(_ request: TransferRequest, _ bytes: [UInt8]) -> TransferResponse {
        if let forge = state.withLock({ $0.forges.first { request.url.hasPrefix($0.api + "/") } }) {
            return forge.answer(
                request.method.rawValue, request.url, headers: request.headers,
                authorization: Self.authorization(of: request), body: bytes)
        }
        return state.withLock { state in
            let url = request.url
            if let answer = state.answers["\(request.method.rawValue) \(url)"] { return answer }
            // The response has a text, as real ones do: a reader must not take it for the file.
            func status(_ status: Int) -> TransferResponse {
                let text = status == 404 ? String(repeating: "There is no such file here. ", count: 6) : ""
                return TransferResponse(status: status, body: Array(text.utf8))
            }
            func hasParent(_ url: String) -> Bool {
                let path = url.hasSuffix("/") ? url.dropLast() : url[...]
                let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
                return !state.needsCollections || state.collections.contains(parent)
            }
            switch request.method {
            case .get: return state.files[url].map { TransferResponse(status: 200, body: $0) } ?? status(404)
            case .head:
                guard let file = state.files[url] else { return status(404) }
                return TransferResponse(status: 200, headers: ["Content-Length": String(file.count)])
            case .put:
                guard hasParent(url) else { return status(409) }
                return status(state.files.updateValue(bytes, forKey: url) == nil ? 201 : 204)
            case .delete: return status(state.files.removeValue(forKey: url) == nil ? 404 : 204)
            case .makeCollection:
                guard !state.collections.contains(url) else { return status(405) }
                guard hasParent(url) else { return status(409) }
                state.collections.insert(url)
                return status(201)
            case .move:
                guard state.isMoveSupported else { return status(405) }
                guard let target = request.target, let file = state.files[url] else { return status(404) }
                guard state.movesOver || state.files[target] == nil else { return status(412) }
                state.files[url] = nil
                state.files[target] = file
                return status(201)
            case .mail: return TransferResponse(status: 250, body: Array("OK".utf8))
            case .post, .patch: return status(405)
            }
        }
    }

    /// Returns the header that libcurl makes of the credentials, or the request's own.
    private static func authorization(of request: TransferRequest) -> String? {
        switch request.credentials {
        case .bearer(let token): "Bearer " + token
        case .password(let user, let password):
            "Basic " + Data("\(user ?? ""):\(password)".utf8).base64EncodedString()
        case .privateKey, nil: request.headers["Authorization"]
        }
    }

    // MARK: What CurlTransport refuses too

    private func check(_ request: TransferRequest) throws(TransferError) {
        let isSecure =
            ["https://", "sftp://", "smtps://"].contains { request.url.hasPrefix($0) }
            || request.envelope != nil && request.url.hasPrefix("smtp://")
        let isAllowed = request.isPlainHTTPAllowed || request.unixSocket != nil
        guard isSecure || (isAllowed && request.url.hasPrefix("http://")) else {
            throw error(.schemeRefused, request, "the scheme is not allowed")
        }
        for field in request.headers.fields where (field.name + field.value).utf8.contains(where: { $0 < 0x20 }) {
            throw error(.invalid, request, "a header holds a control character")
        }
        guard request.url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else {
            throw error(.invalid, request, "the URL holds a control character")
        }
    }

    private func content(of request: TransferRequest) throws(TransferError) -> [UInt8] {
        switch request.body {
        case .none: return []
        case .bytes(let bytes): return bytes
        case .file(let path):
            do throws(FileError) {
                return try WholeFile.read(path, limit: 1 << 30)
            } catch {
                throw self.error(.file, request, "\(error)")
            }
        case .filePart(let path, let offset, let count):
            var whole = request
            whole.body = .file(path: path)
            return Array(try content(of: whole).dropFirst(Int(offset)).prefix(Int(count)))
        }
    }

    private func hashed(_ answer: TransferResponse) -> TransferResponse {
        TransferResponse(
            status: answer.status, headers: answer.headers, size: Int64(answer.body.count),
            sha256: Hexadecimal.encode(SHA256.hash(data: answer.body)))
    }

    private func error(_ code: TransferError.Code, _ request: TransferRequest, _ message: String) -> TransferError {
        TransferError(code: code, operation: "\(request.method.rawValue) \(request.url)", message: message)
    }
}
