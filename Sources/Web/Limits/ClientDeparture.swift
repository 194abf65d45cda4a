import NIOCore
import Synchronization

/// Cancels the work for a client when it leaves: when its connection is closed, or when it has closed its side while it waits for an answer.
///
/// The service cannot distinguish a client that has left from one that has closed its side but still reads, until it sends something. Like other
/// servers, it treats both as gone. Only costly answers are canceled.
final class ClientDeparture: Sendable {
    private struct State {
        var hasLeft = false
        var next: UInt64 = 0
        var works: [UInt64: @Sendable () -> Void] = [:]
    }

    /// The client of the connection whose requests the current task answers.
    @TaskLocal static var ofConnection: ClientDeparture?

    private let state = Mutex(State())

    /// Whether the client has left.
    var hasLeft: Bool { state.withLock { $0.hasLeft } }

    /// Cancels all work in progress. Work that begins later is canceled at once.
    func leave() {
        let works = state.withLock { state in
            state.hasLeft = true
            defer { state.works = [:] }
            return state.works
        }
        for cancel in works.values { cancel() }
    }

    /// Runs work in a task of its own, which is canceled when the client leaves or the caller is canceled. Returns when the work has ended.
    /// - Throws: The errors of `work`.
    func canceling<Value: Sendable>(
        on executor: any TaskExecutor, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let task = Task(executorPreference: executor) { try await work() }
        let number = begin { task.cancel() }
        defer { end(number) }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func begin(_ cancel: @escaping @Sendable () -> Void) -> UInt64 {
        let (number, hasLeft) = state.withLock { state in
            state.next += 1
            if !state.hasLeft { state.works[state.next] = cancel }
            return (state.next, state.hasLeft)
        }
        if hasLeft { cancel() }
        return number
    }

    private func end(_ number: UInt64) { state.withLock { $0.works[number] = nil } }

    /// Observes a connection's end. It must be first in the pipeline, because Hummingbird's handlers do not pass the event on.
    final class Watch: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = NIOAny

        private let departure: ClientDeparture

        init(_ departure: ClientDeparture) { self.departure = departure }

        func channelInactive(context: ChannelHandlerContext) {
            departure.leave()
            context.fireChannelInactive()
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if let event = event as? ChannelEvent, event == .inputClosed { departure.leave() }
            context.fireUserInboundEventTriggered(event)
        }
    }
}
