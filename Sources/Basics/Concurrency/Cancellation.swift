/// A request to stop an integration, and the work to stop when it arrives. A user requests it, or a newer commit that supersedes the integration.
package actor Cancellation {
    /// The reason to stop, and the time to do so.
    package struct Request: Hashable, Sendable {
        package var reason: String
        /// The time between SIGTERM and SIGKILL of a job's processes. Zero kills at once.
        package var grace: Duration

        package init(reason: String, grace: Duration = Request.usualGrace) {
            self.reason = reason
            self.grace = grace
        }

        /// The grace if no other is given. The supervisor uses the same between the two signals at a time-out.
        package static let usualGrace = Duration.seconds(10)
        /// The longest grace that can be requested. Some databases take minutes to shut down in order.
        package static let longestGrace = Duration.seconds(600)
    }

    private var cancelRequest: Request?
    private var handlers: [Int: @Sendable (Request) async -> Void] = [:]
    private var next = 0

    package init() {}

    /// The request; `nil` if there is none.
    package var requested: Request? { cancelRequest }

    /// Stops the work that is registered now, and immediately any work that is registered later. A further request can only shorten the grace; the
    /// reason stays that of the first request.
    package func request(_ cancelRequest: Request) async {
        var cancelRequest = cancelRequest
        if let first = self.cancelRequest {
            guard cancelRequest.grace < first.grace else { return }
            cancelRequest.reason = first.reason
        }
        self.cancelRequest = cancelRequest
        for handler in handlers.values { await handler(cancelRequest) }
    }

    /// Runs `body`. If cancellation was requested before or is requested meanwhile, `stop` is called beside it: once, and again for each shorter
    /// grace.
    package func whileCancellable<Value: Sendable>(
        stop: @escaping @Sendable (Request) async -> Void, _ body: () async throws -> Value
    ) async rethrows -> Value {
        let key = next
        next += 1
        handlers[key] = stop
        defer { handlers[key] = nil }
        if let cancelRequest { await stop(cancelRequest) }
        return try await body()
    }

    /// Runs `body` in a task that is canceled as soon as cancellation is requested. It is for work that needs no grace, such as waiting or a
    /// transfer. Returns only when `body` has ended. If cancellation was requested before, `body` does not start.
    /// - Returns: `nil` if a cancellation request ended or prevented `body`.
    /// - Throws: The error of `body` itself; `CancellationError` if the caller's own task was canceled.
    package func interrupting<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value? {
        try Task.checkCancellation()
        guard cancelRequest == nil else { return nil }
        let task = Task { try await body() }
        let result = await withTaskCancellationHandler {
            await whileCancellable(stop: { _ in task.cancel() }) { await task.result }
        } onCancel: {
            task.cancel()
        }
        do {
            return try result.get()
        } catch {
            try Task.checkCancellation()
            // Any error of a canceled task is due to the cancellation.
            if cancelRequest != nil { return nil }
            throw error
        }
    }
}
