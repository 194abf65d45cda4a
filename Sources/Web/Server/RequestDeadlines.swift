import Model
import NIOCore
import NIOHTTPTypes

/// Closes a connection that keeps the service waiting for a request's head or the rest of its body. A client that sends a byte now and then is never
/// idle, and could otherwise hold its connection forever ("Slowloris").
final class RequestDeadlines: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The time from a connection's opening, or the end of its last answer, to the end of the next request's head.
    static let head = TimeAmount.seconds(30)
    /// The time from a head's end to its body's end. 26 MiB take this long at 7 Mbit/s; the forges wait 10 s for the answer.
    static let body = TimeAmount.seconds(30)

    /// The most bytes of one read.
    static let readBytes = 8 << 10
    /// The time until the connection is closed after an answer that was sent before the request's body was complete.
    static let farewell = TimeAmount.seconds(2)

    /// The time from an answer's end until the kernel has accepted its last byte, for a client that has stopped reading.
    static let rest = TimeAmount.seconds(120)

    private let connections: ConnectionLimit
    private let clients: ClientResolver
    private let head: TimeAmount
    private let body: TimeAmount
    private var deadline: Scheduled<Void>?
    /// The connection's number in `connections` while it owes a request or its body.
    private var waiting: UInt64?
    /// The connection's number in `connections` while its client does not read an answer.
    private var untaken: UInt64?
    private var client: IPAddress?
    private var isReceiving = false
    /// The number of requests that have begun and whose answers have not ended.
    private var unanswered = 0
    /// The number of answers whose end was written but is not accepted by the kernel yet.
    private var unsent = 0
    /// Closes a connection whose client does not read what is written.
    private var stall: Scheduled<Void>?
    /// Whether the last request was answered before its body was complete.
    private var isOver = false
    private var hasLeft = false

    init(
        connections: ConnectionLimit, clients: ClientResolver = ClientResolver(),
        head: TimeAmount = RequestDeadlines.head, body: TimeAmount = RequestDeadlines.body
    ) {
        (self.connections, self.clients) = (connections, clients)
        self.head = head
        self.body = body
    }

    func handlerAdded(context: ChannelHandlerContext) {
        // About ten pieces of a body wait for its reader. Pieces of 8 KiB instead of 64 KiB limit the memory of a thousand connections. A test's
        // channel has no such options.
        if let options = context.channel.syncOptions {
            let pieces = AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 2048, maximum: Self.readBytes)
            try? options.setOption(.recvAllocator, value: pieces)
            try? options.setOption(.maxMessagesPerRead, value: 1)
        }
        // Hummingbird accepts additional handlers only in this place of the pipeline.
        do { try StrictRequests.add(to: context.pipeline) } catch { context.close(promise: nil) }
        client = clients.client(ofConnectionFrom: IPAddress(context.channel.remoteAddress))
        waiting = connections.enter(context.channel, client: client)
        close(context, after: head)
    }

    func handlerRemoved(context: ChannelHandlerContext) { leave() }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            // A connection that owes a body can also be closed in favor of others, after those that owe a head.
            guard hasComeInTime() else { return context.close(promise: nil) }
            waiting = connections.wait(context.channel, client: client)
            isReceiving = true
            unanswered += 1
            // If an earlier request is still being answered, the time for this one begins when that answer ends.
            if unanswered == 1 { close(context, after: body) }
        case .body: break
        case .end:
            guard hasComeInTime() else { return context.close(promise: nil) }
            isReceiving = false
            // If the answer was sent before the body was complete, the deadline of the connection stays.
            if !isOver, unsent == 0 { deadline?.cancel() }
            awaitRequest(context)
        }
        context.fireChannelRead(data)
    }

    private func hasComeInTime() -> Bool {
        guard let number = waiting else { return true }
        waiting = nil
        return connections.endWait(number)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .end = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
        // The time counts from when the kernel has accepted the answer, not from when it was written: a slow client's answer is still in progress
        // then.
        let sent = promise ?? context.eventLoop.makePromise(of: Void.self)
        let context = NIOLoopBound(context, eventLoop: context.eventLoop)
        let own = NIOLoopBound(self, eventLoop: context.value.eventLoop)
        sent.futureResult.whenComplete { _ in own.value.answered(context.value) }
        unsent += 1
        recordUnread(context.value)
        // If nothing else has a deadline, the rest of the answer has one.
        if !isReceiving || unanswered > 1 { close(context.value, after: Self.rest) }
        context.value.write(data, promise: sent)
    }

    private func answered(_ context: ChannelHandlerContext) {
        unanswered -= 1
        unsent -= 1
        recordUnread(context)
        if isReceiving, unanswered == 0 {
            // The request was refused before it was read, as by a limit. The rest is not read, and the client has `farewell` to read the reason.
            isOver = true
            close(context, after: Self.farewell)
        } else if isReceiving, unanswered == 1 {
            close(context, after: body)
        } else if !isOver {
            if unsent > 0 { close(context, after: Self.rest) } else { deadline?.cancel() }
        }
        awaitRequest(context)
    }

    /// A body that is written piece by piece waits here for a client that does not read. The client has as long as for the rest of an answer.
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        stall?.cancel()
        stall = nil
        let channel = context.channel
        recordUnread(context)
        if !channel.isWritable, !hasLeft {
            stall = context.eventLoop.scheduleTask(in: Self.rest) { channel.close(promise: nil) }
        }
        context.fireChannelWritabilityChanged()
    }

    func read(context: ChannelHandlerContext) {
        if !isOver { context.read() }
    }

    /// Counts the connection among those that keep the service waiting while its client does not read what was written.
    private func recordUnread(_ context: ChannelHandlerContext) {
        let isUntaken = unsent > 0 || !context.channel.isWritable
        if isUntaken, untaken == nil, !hasLeft {
            untaken = connections.wait(context.channel, client: client)
        } else if !isUntaken, let number = untaken {
            untaken = nil
            // If this returns false, the connection is already being closed in favor of others.
            _ = connections.endWait(number)
        }
    }

    /// Begins to wait for the next request if nothing else is in progress.
    private func awaitRequest(_ context: ChannelHandlerContext) {
        guard !isReceiving, unanswered == 0, waiting == nil, !hasLeft, !isOver else { return }
        waiting = connections.wait(context.channel, client: client)
        close(context, after: head)
    }

    private func close(_ context: ChannelHandlerContext, after time: TimeAmount) {
        deadline?.cancel()
        guard !hasLeft else { return }
        let channel = context.channel
        deadline = context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }

    private func leave() {
        guard !hasLeft else { return }
        hasLeft = true
        deadline?.cancel()
        stall?.cancel()
        connections.leave([waiting, untaken].compactMap(\.self), client: client)
    }
}
