import Basics
import Crypto
import Encodings
import TestSupport
import Transfer

/// A bucket in memory that follows AWS's documentation of S3. It can also imitate other servers, and it records its requests.
final class FakeBucket: Transport {
    /// The behavior of a server for `If-None-Match`.
    enum Condition: Sendable { case kept, passedOver, unknown }

    struct Object: Sendable, Hashable {
        var bytes: [UInt8]
        var tag: String
    }

    struct State: Sendable {
        var objects: [String: Object] = [:]
        /// The key and the parts of each upload, by its number.
        var uploads: [String: (key: String, parts: [Int: Object])] = [:]
        var begun = 0
        var asked: [TransferRequest] = []
    }

    /// An event that happens once, before an answer or in its place.
    typealias Event = @Sendable (TransferRequest) async throws(TransferError) -> TransferResponse?

    static let place = "s3://acme/kit/?endpoint=https://s3.example"

    let state = Locked(State())
    private let condition: Condition
    private let areTagsDigests: Bool
    private let events = Locked<[(words: String, event: Event)]>([])

    /// - Parameter areTagsDigests: Whether a part's ETag is its MD5. That is not so for a server that encrypts with its own key.
    init(condition: Condition = .kept, areTagsDigests: Bool = true) {
        self.condition = condition
        self.areTagsDigests = areTagsDigests
    }

    /// Runs an event at the next request that begins with these words: `GET a ` for an object, `PUT a?partNumber=2` for a part.
    func once(_ words: String, _ event: @escaping Event) { events.withLock { $0.append((words, event)) } }

    /// Returns the number of requests that begin with these words.
    func count(_ words: String) -> Int { state.value.asked.count { Self.words($0).hasPrefix(words) } }

    func object(_ key: String) -> String? {
        state.value.objects["kit/" + key].map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    /// Stores an object, as another client does.
    func store(_ text: String, at key: String) {
        state.withLock { $0.objects["kit/" + key] = Object(bytes: Array(text.utf8), tag: "others-\($0.asked.count)") }
    }

    func upload(
        _ file: UploadFile, session: String? = nil, memory: (any UploadStateStore)? = nil
    ) async throws -> [UploadResult] { try await upload([file], session: session, memory: memory) }

    func upload(
        _ files: [UploadFile], session: String? = nil, memory: (any UploadStateStore)? = nil
    ) async throws -> [UploadResult] {
        try await Uploader(transport: self).upload(files, to: Self.place, options: options(session, memory))
    }

    func options(_ session: String?, _ memory: (any UploadStateStore)?) -> UploadOptions {
        var options = UploadOptions()
        options.credentials = .password(user: "AKIA", password: "key")
        options.retries = .immediate
        options.session = session
        options.memory = memory
        return options
    }

    // MARK: What it answers

    static func error(_ status: Int, _ code: String) -> TransferResponse {
        answer(status, "<Error><Code>\(code)</Code><Message>so</Message></Error>")
    }

    static func answer(_ status: Int, _ body: String = "", tag: String? = nil) -> TransferResponse {
        TransferResponse(status: status, headers: tag.map { ["ETag": "\"\($0)\""] } ?? [:], body: Array(body.utf8))
    }

    /// Returns the method, the path after `…/kit/`, and a space.
    private static func words(_ request: TransferRequest) -> String {
        "\(request.method.rawValue) " + request.url.replacing("https://s3.example/acme/kit/", with: "") + " "
    }

    func perform(_ request: TransferRequest) async throws(TransferError) -> TransferResponse {
        state.withLock { $0.asked.append(request) }
        let words = Self.words(request)
        let event = events.withLock { events in
            events.firstIndex { words.hasPrefix($0.words) }.map { events.remove(at: $0).event }
        }
        if let event, let answer = try await event(request) { return answer }
        let bytes = try content(of: request)
        let answer = act(request, bytes)
        guard request.destination == .digest else { return answer }
        guard answer.body.count <= request.limits.response else {
            throw TransferError(code: .tooLarge, operation: "get", message: "too large")
        }
        return TransferResponse(
            status: answer.status, headers: answer.headers, size: Int64(answer.body.count),
            sha256: Hexadecimal.encode(SHA256.hash(data: answer.body)))
    }

    func stream(_ request: TransferRequest) async throws(TransferError) -> TransferStream {
        throw TransferError(code: .invalid, operation: "stream", message: "a bucket is not streamed")
    }

    private func act(_ request: TransferRequest, _ bytes: [UInt8]) -> TransferResponse {
        let parts = request.url.replacing("https://s3.example/acme/", with: "").split(
            separator: "?", maxSplits: 1
        ).map(String.init)
        let key = parts[0]
        let query = Dictionary(
            (parts.count > 1 ? parts[1] : "").split(separator: "&").map { pair in
                let words = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                return (words[0], words[1])
            }
        ) { $1 }
        return state.withLock { state in
            if let number = query["uploadId"] {
                guard let upload = state.uploads[number], upload.key == key else {
                    return Self.error(404, "NoSuchUpload")
                }
                return part(request, bytes, number, query["partNumber"], &state)
            }
            if query["uploads"] != nil {
                state.begun += 1
                state.uploads["u\(state.begun)"] = (key, [:])
                return Self.answer(200, "<Result><UploadId>u\(state.begun)</UploadId></Result>")
            }
            switch request.method {
            case .put: return write(bytes, tag: Self.md5(bytes), at: key, request, &state)
            case .delete:
                guard let object = state.objects[key] else { return Self.answer(204) }
                if let match = request.headers["If-Match"], match != "\"\(object.tag)\"" {
                    return Self.error(412, "PreconditionFailed")
                }
                state.objects[key] = nil
                return Self.answer(204)
            default:
                guard let object = state.objects[key] else { return Self.error(404, "NoSuchKey") }
                return TransferResponse(status: 200, headers: ["ETag": "\"\(object.tag)\""], body: object.bytes)
            }
        }
    }

    /// Answers a request about an upload.
    private func part(
        _ request: TransferRequest, _ bytes: [UInt8], _ number: String, _ part: String?, _ state: inout State
    ) -> TransferResponse {
        let upload = state.uploads[number] ?? ("", [:])
        switch request.method {
        case .put:
            let index = part.flatMap { Int($0) } ?? 0
            let tag = areTagsDigests ? Self.md5(bytes) : "opaque-\(state.asked.count)"
            state.uploads[number]?.parts[index] = Object(bytes: bytes, tag: tag)
            return Self.answer(200, tag: tag)
        case .get:
            let list = upload.parts.sorted { $0.key < $1.key }.map { number, part in
                "<Part><PartNumber>\(number)</PartNumber><ETag>&quot;\(part.tag)&quot;</ETag><Size>\(part.bytes.count)</Size></Part>"
            }
            return Self.answer(200, "<ListPartsResult>\(list.joined())</ListPartsResult>")
        case .post:
            // The parts are joined in the order and with the tags of the request.
            let named = String(decoding: bytes, as: UTF8.self).split(separator: "<PartNumber>").dropFirst().map {
                text in
                (Int(text.prefix { $0 != "<" }) ?? 0, text.split(separator: "\"")[1])
            }
            guard named.allSatisfy({ upload.parts[$0.0]?.tag == String($0.1) }) else {
                return Self.error(400, "InvalidPart")
            }
            let whole = named.flatMap { upload.parts[$0.0]?.bytes ?? [] }
            let tag = Self.md5(whole) + "-\(named.count)"
            let answer = write(whole, tag: tag, at: upload.key, request, &state)
            guard answer.isSuccess else { return answer }
            state.uploads[number] = nil
            return Self.answer(
                200, "<CompleteMultipartUploadResult><ETag>&quot;\(tag)&quot;</ETag></CompleteMultipartUploadResult>")
        default:
            state.uploads[number] = nil
            return Self.answer(204)
        }
    }

    private func write(
        _ bytes: [UInt8], tag: String, at key: String, _ request: TransferRequest, _ state: inout State
    ) -> TransferResponse {
        if request.headers["If-None-Match"] != nil {
            switch condition {
            case .kept: if state.objects[key] != nil { return Self.error(412, "PreconditionFailed") }
            case .unknown: return Self.error(501, "NotImplemented")
            case .passedOver: break
            }
        }
        state.objects[key] = Object(bytes: bytes, tag: tag)
        return Self.answer(200, tag: tag)
    }

    private static func md5(_ bytes: [UInt8]) -> String { Hexadecimal.encode(Insecure.MD5.hash(data: bytes)) }

    private func content(of request: TransferRequest) throws(TransferError) -> [UInt8] {
        do {
            switch request.body {
            case .none: return []
            case .bytes(let bytes): return bytes
            case .file(let path): return try WholeFile.read(path, limit: 64 << 20)
            case .filePart(let path, let offset, let count):
                return Array(try WholeFile.read(path, limit: 64 << 20).dropFirst(Int(offset)).prefix(Int(count)))
            }
        } catch {
            throw TransferError(code: .file, operation: "read", message: "\(error)")
        }
    }
}

/// A record of uploads that a process leaves for the next one.
final class NotedUploads: UploadStateStore {
    private let notes = Locked<[String: String]>([:])

    var texts: [String] { notes.value.values.sorted() }

    func load(_ place: String) async -> String? { notes.value[place] }

    func save(_ text: String?, of place: String) async { notes.withLock { $0[place] = text } }
}
