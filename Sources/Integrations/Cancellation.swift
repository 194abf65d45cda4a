/// The wish to stop an integration, by a person or since a newer commit supersedes it, and what is to be stopped for it.
package actor Cancellation {
    /// Why to stop, and how gently.
    package struct Wish: Hashable, Sendable {
        package var reason: String
        /// Between SIGTERM and SIGKILL of a job's processes; zero kills at once.
        package var grace: Duration

        package init(reason: String, grace: Duration = Wish.usualGrace) {
            self.reason = reason
            self.grace = grace
        }

        /// Where nobody says another: the supervisor's own between the two signals at a time-out, too.
        package static let usualGrace = Duration.seconds(10)
        /// The longest that can be asked for: some databases take minutes to end in order.
        package static let longestGrace = Duration.seconds(600)
    }

    private var wish: Wish?
    private var handlers: [Int: @Sendable (Wish) async -> Void] = [:]
    private var next = 0

    package init() {}

    /// Why it is to stop, or nothing.
    package var requested: Wish? { wish }

    /// Stops what is registered now, and at once what is registered later. A further request can only make the grace shorter; the reason
    /// stays the first one's.
    package func request(_ wish: Wish) async {
        var wish = wish
        if let first = self.wish {
            guard wish.grace < first.grace else { return }
            wish.reason = first.reason
        }
        self.wish = wish
        for handler in handlers.values { await handler(wish) }
    }

    /// Runs `body`; when cancellation is or was requested meanwhile, `stop` is called beside it: once, and again for each
    /// shorter grace.
    package func whileCancellable<Value: Sendable>(
        stop: @escaping @Sendable (Wish) async -> Void, _ body: () async throws -> Value
    ) async rethrows -> Value {
        let key = next
        next += 1
        handlers[key] = stop
        defer { handlers[key] = nil }
        if let wish { await stop(wish) }
        return try await body()
    }

    /// Runs `body` in a task that is cancelled as soon as cancellation is requested: for what needs no grace, such as waiting
    /// or a transfer. Returns only when `body` has ended; one that was requested before does not begin.
    /// - Returns: Nothing when the request ended it.
    /// - Throws: What `body` throws of itself; `CancellationError` when the caller's own task was cancelled.
    package func interrupting<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value? {
        try Task.checkCancellation()
        guard wish == nil else { return nil }
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
            // Whatever a cancelled task throws, it throws because it was cancelled.
            if wish != nil { return nil }
            throw error
        }
    }
}
