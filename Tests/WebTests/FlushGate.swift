import NIOCore

/// A handler that holds back writes until it is opened, as a full socket does.
final class FlushGate: ChannelOutboundHandler {
    typealias OutboundIn = Any
    private var context: ChannelHandlerContext?
    private var isOpen = false
    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }
    func flush(context: ChannelHandlerContext) { if isOpen { context.flush() } }
    func open() {
        isOpen = true
        context?.flush()
    }
}
