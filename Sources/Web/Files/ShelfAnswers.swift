import HTTPTypes
import Hummingbird
import Model
import NIOCore
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import Synchronization

/// Answers what lies on the shelf on the connection's own thread: without a task, a route and a look at the database a small file costs
/// a third. All else goes the usual way, and whatever follows it on the connection until it is answered.
final class ShelfAnswers: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let shelf: FileShelf
    private let date: DateText
    private let hosts: ServedHosts
    private let onDownload: @Sendable (Downloads.Key) -> Void
    private var held: (head: HTTPResponse, body: ByteBuffer?, download: Downloads.Key?)?
    /// Requests that went on and whose answers have not ended.
    private var elsewhere = 0
    /// Answers of ours that are not with the kernel yet.
    private var unsent = 0
    private var isWritten = false
    /// The service is stopping; told to those after this one when the last answer of ours is sent.
    private var stopping: ChannelShouldQuiesceEvent?

    /// - Parameter onDownload: Called when a file's last byte is with the kernel.
    init(
        shelf: FileShelf, date: DateText, hosts: ServedHosts, onDownload: @escaping @Sendable (Downloads.Key) -> Void
    ) {
        self.shelf = shelf
        self.hosts = hosts
        self.date = date
        self.onDownload = onDownload
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let request):
            // A client that does not take its answers is waited for on the usual way.
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

    /// The cached answer to a request that has no body and no token, and asks for no other protocol.
    private func answer(to request: HTTPRequest) -> (head: HTTPResponse, body: ByteBuffer?, download: Downloads.Key?)? {
        let isHead = request.method == .head
        guard isHead || request.method == .get, let target = request.path,
            let entry = shelf.entry(at: target),
            request.headerFields.allSatisfy({ !Self.special.contains($0.name) && Self.isUsual($0) }),
            hosts.serves(request.authority),
            // 412 is told as a page or as JSON, which is not known here.
            let answer = try? entry.head.answer(to: request.headerFields, isHead: isHead)
        else { return nil }
        let range = (answer.range ?? 0..<0)
        let bytes = entry.bytes.getSlice(at: entry.bytes.readerIndex + Int(range.lowerBound), length: range.count)
        var response = Response(
            status: answer.status, headers: answer.headers, body: .init(byteBuffer: bytes ?? ByteBuffer()))
        SecurityHeaders.shelf.apply(to: &response)
        response.headers[.date] = date.text
        let hasBody = !isHead && !range.isEmpty
        return (response.head, hasBody ? bytes : nil, !isHead && entry.head.isDownload(answer) ? entry.download : nil)
    }

    private static let special: Set<HTTPField.Name> = [
        .authorization, .contentLength, .expect, .transferEncoding, .upgrade, .te, .trailer,
    ]

    /// False for a `Connection` that names other fields. `StrictRequests` handles `close`.
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
