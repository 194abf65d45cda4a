/// A person's wish to stop an integration, and what is to be stopped for it.
package actor Cancellation {
    private var reason: String?
    private var handlers: [Int: @Sendable (String) async -> Void] = [:]
    private var next = 0

    package init() {}

    /// Why it was canceled, or nothing.
    package var requested: String? { reason }

    /// Stops what is registered now, and at once what is registered later. Further requests do nothing.
    package func request(reason: String) async {
        guard self.reason == nil else { return }
        self.reason = reason
        for handler in handlers.values { await handler(reason) }
    }

    /// Runs `body`; when cancellation is or was requested meanwhile, `stop` is called once beside it.
    package func whileCancellable<Value: Sendable>(
        stop: @escaping @Sendable (String) async -> Void, _ body: () async throws -> Value
    ) async rethrows -> Value {
        let key = next
        next += 1
        handlers[key] = stop
        defer { handlers[key] = nil }
        if let reason { await stop(reason) }
        return try await body()
    }
}
