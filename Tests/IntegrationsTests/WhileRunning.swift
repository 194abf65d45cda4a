/// Runs a part of the daemon while the body runs, and waits for its end, whatever the body's result.
func whileRunning(
    _ work: @escaping @Sendable () async -> Void, _ body: () async throws -> Void
) async throws {
    let task = Task { await work() }
    let result: Result<Void, any Error>
    do {
        result = .success(try await body())
    } catch {
        result = .failure(error)
    }
    task.cancel()
    await task.value
    try result.get()
}
