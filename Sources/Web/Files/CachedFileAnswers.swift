import HTTPTypes
import Hummingbird
import Model
import NIOCore
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import Synchronization

/// Answers requests for cached files (`FileCache`) on the connection's own thread. Without a task, a route and a database query a small file takes a
/// third of the time. All other requests take the full route, and so do later requests on the same connection until they are answered.
final class CachedFileAnswers: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let fileCache: FileCache
    private let date: DateText
    private let hosts: ServedHosts
    private let onDownload: @Sendable (Downloads.Key) -> Void
    private var held: (head: HTTPResponse, body: ByteBuffer?, download: Downloads.Key?)?
    /// The number of requests that were passed on and whose answers have not ended.
    private var elsewhere = 0
    /// The number of this handler's answers that the kernel has not accepted yet.
    private var unsent = 0
    private var isWritten = false
    /// The service is stopping. The event is passed on when this handler's last answer is sent.
    private var stopping: ChannelShouldQuiesceEvent?

    /// Creates the handler of one connection.
    /// - Parameter onDownload: Called when the kernel has accepted a file's last byte.
    init(
        fileCache: FileCache, date: DateText, hosts: ServedHosts,
        onDownload: @escaping @Sendable (Downloads.Key) -> Void
    ) {
        self.fileCache = fileCache
        self.hosts = hosts
        self.date = date
        self.onDownload = onDownload
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let request):
            // If the client does not read its answers, the full route waits for it.
            if elsewhere == 0, stopping == nil, context.channel.isWritable { held = answer(to: request) }
            if held != nil { return }
            elsewhere += 1
        case .body: break
        case .end:
            guard let answer = held else { break }
            held = nil
            return send(answer, context)
        }
        context.fireChannelRead(data)
    }

    /// Returns the cached answer to a request that has no body and no token, and asks for no other protocol.
    /// - Returns: `nil` if the request must take the full route.
    private func answer(to request: HTTPRequest) -> (head: HTTPResponse, body: ByteBuffer?, download: Downloads.Key?)? {
        let isHead = request.method == .head
        guard isHead || request.method == .get, let target = request.path,
            let entry = fileCache.entry(at: target),
            request.headerFields.allSatisfy({ !Self.special.contains($0.name) && Self.isUsual($0) }),
            hosts.serves(request.authority),
            // A 412 is sent as a page or as JSON; only the full route can decide which.
            let answer = try? entry.head.answer(to: request.headerFields, isHead: isHead)
        else { return nil }
        let range = (answer.range ?? 0..<0)
        let bytes = entry.bytes.getSlice(at: entry.bytes.readerIndex + Int(range.lowerBound), length: range.count)
        var response = Response(
            status: answer.status, headers: answer.headers, body: .init(byteBuffer: bytes ?? ByteBuffer()))
        SecurityHeaders.fileCache.apply(to: &response)
        response.headers[.date] = date.text
        let hasBody = !isHead && !range.isEmpty
        return (response.head, hasBody ? bytes : nil, !isHead && entry.head.isDownload(answer) ? entry.download : nil)
    }

    private static let special: Set<HTTPField.Name> = [
        .authorization, .contentLength, .expect, .transferEncoding, .upgrade, .te, .trailer,
    ]

    /// Returns false for a `Connection` header that names other fields. `StrictRequests` handles `close`.
    private static func isUsual(_ field: HTTPField) -> Bool {
        field.name != .connection || ["close", "keep-alive"].contains(field.value.lowercased())
    }

    private func send(
        _ answer: (head: HTTPResponse, body: ByteBuffer?, download: Downloads.Key?), _ context: ChannelHandlerContext
    ) {
        context.write(wrapOutboundOut(.head(answer.head)), promise: nil)
        if let body = answer.body { context.write(wrapOutboundOut(.body(body)), promise: nil) }
        let sent = context.eventLoop.makePromise(of: Void.self)
        unsent += 1
        let (own, bound) = (
            NIOLoopBound(self, eventLoop: context.eventLoop), NIOLoopBound(context, eventLoop: context.eventLoop)
        )
        sent.futureResult.whenComplete { [onDownload] result in
            if case .success = result, let download = answer.download { onDownload(download) }
            own.value.isSent(bound.value)
        }
        context.write(wrapOutboundOut(.end(nil)), promise: sent)
        isWritten = true
    }

    private func isSent(_ context: ChannelHandlerContext) {
        unsent -= 1
        guard unsent == 0, let event = stopping else { return }
        stopping = nil
        context.fireUserInboundEventTriggered(event)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if isWritten {
            isWritten = false
            context.flush()
        }
        context.fireChannelReadComplete()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) { elsewhere -= 1 }
        context.write(data, promise: promise)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if unsent > 0, let event = event as? ChannelShouldQuiesceEvent {
            stopping = event
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }
}
