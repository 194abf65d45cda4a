import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1

/// Refuses requests that two readers could understand in two ways, and closes their connection: what a proxy in front took for a body must
/// never be a request here ("request smuggling"). The decoder refuses what is malformed; here is what it lets pass. And it ends a connection with
/// the answer to a request of HTTP/1.0, or to one that states `Connection: close` (RFC 9112, sections 9.3 and 9.6), or with an answer that states it.
/// The last answer of a connection states `Connection: close`.
final class StrictRequests: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private var isReceiving = false
    private var unanswered = 0
    private var isRefused = false
    /// Whether no further request is read.
    private var isLast = false
    /// Whether the last request is of HTTP/1.0.
    private var isOld = false
    /// Whether the last request ends the connection.
    private var isFinal = false
    /// Whether the service is stopping: the connection is closed after the answers in progress.
    private var isStopping = false
    /// Whether the body that is being received is malformed.
    private var isBroken = false

    /// Adds a handler before the one that converts HTTP/1's types into those of every version.
    static func add(to pipeline: ChannelPipeline) throws {
        let codec = try pipeline.syncOperations.handler(type: HTTP1ToHTTPServerCodec.self)
        try pipeline.syncOperations.addHandler(StrictRequests(), position: .before(codec))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused, isReceiving || !isLast else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            guard Self.isPlain(head) else { return refuse(context, .badRequest) }
            isOld = head.version != .http1_1
            isFinal = isOld || Self.isClosing(head.headers)
            // The decoder keeps all that follows such a head, whatever it is, for a protocol that nobody here speaks.
            if head.headers.contains(name: "upgrade") { isLast = true }
            isReceiving = true
            unanswered += 1
        case .body: break
        case .end:
            isReceiving = false
            if isFinal { isLast = true }
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            if Self.isClosing(head.headers) {
                isLast = true
                // Requests that are here already are answered, too.
                if unanswered > 1 { head.headers.remove(name: "connection") }
            }
            // No request is read after this answer: its request ends the connection or was not read to its end, or the service is stopping.
            let isLastAnswer = isLast || isReceiving || isStopping
            guard isLastAnswer, unanswered == 1 else {
                return context.write(wrapOutboundOut(.head(head)), promise: promise)
            }
            head.headers.replaceOrAdd(name: "connection", value: "close")
            // HTTP/1.0 has no chunks (RFC 9112, section 6.1): the end of the connection ends the body.
            if isOld, !head.headers.contains(name: "content-length") { head.version = .http1_0 }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            unanswered -= 1
            guard isBroken || isLast, unanswered == 0 else { return context.write(data, promise: promise) }
            // The answer was in progress when the body turned out to be malformed, so no second answer follows. The connection is closed after the
            // kernel has accepted the whole answer, because a close drops unsent bytes.
            let sent = promise ?? context.eventLoop.makePromise(of: Void.self)
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            sent.futureResult.whenComplete { _ in bound.value.close(promise: nil) }
            context.writeAndFlush(data, promise: sent)
        }
    }

    func read(context: ChannelHandlerContext) {
        if !isLast { context.read() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent { isStopping = true }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error is HTTPParserError, !isRefused else { return context.fireErrorCaught(error) }
        // The error is in data that is ignored.
        if isLast, !isReceiving { return }
        if isReceiving {
            // A handler that reads the body answers; a handler that does not read it has answered.
            isBroken = true
            if unanswered > 0 { context.fireErrorCaught(error) } else { context.close(promise: nil) }
            return
        }
        let isTooLarge = error as? HTTPParserError == .headerOverflow
        refuse(context, isTooLarge ? .requestHeaderFieldsTooLarge : .badRequest)
    }

    /// Whether a head states `Connection: close`.
    private static func isClosing(_ headers: HTTPHeaders) -> Bool {
        headers[canonicalForm: "connection"].contains { $0.lowercased() == "close" }
    }

    /// A path, as it stands in the routes' table, and one host. RFC 9112 3.2.2 has servers take a whole URL too, which only clients of
    /// proxies send: whose host counts would be a question. A host is optional in HTTP/1.0, and chunks are not known there (6.1, 3.2).
    private static func isPlain(_ head: HTTPRequestHead) -> Bool {
        let hosts = head.headers["host"].count
        let isOld = head.version != .http1_1
        return head.uri.utf8.first == UInt8(ascii: "/") && (hosts == 1 || isOld && hosts == 0)
            && !(isOld && head.headers.contains(name: "transfer-encoding"))
    }

    private func refuse(_ context: ChannelHandlerContext, _ status: HTTPResponseStatus) {
        isRefused = true
        // If an earlier request is still being answered, the client would take a second answer for that one's.
        if unanswered == 0 {
            let headers: HTTPHeaders = ["content-length": "0", "connection": "close"]
            context.write(
                wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))),
                promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
        context.close(promise: nil)
    }
}
