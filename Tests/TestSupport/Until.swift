package import Testing

/// Waits until a condition holds. It is for changes without an event to await, such as a file that another process writes.
///
/// This is the only place where tests sleep. It records an issue if the limit passes, and a warning after nine tenths of it, before the test
/// becomes flaky.
/// - Returns: Whether the condition held in time.
@discardableResult
package func until(
    _ what: String = "the condition", limit: Duration = TestLimits.wait,
    sourceLocation: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool
) async rethrows -> Bool {
    let clock = ContinuousClock()
    let start = clock.now
    while true {
        if try await condition() {
            let taken = clock.now - start
            if taken > limit * 0.9 { print("warning: \(sourceLocation): \(what) took \(taken) of \(limit)") }
            return true
        }
        guard clock.now - start < limit, !Task.isCancelled else {
            Issue.record("\(what) did not come to be within \(limit)", sourceLocation: sourceLocation)
            return false
        }
        // If the task is canceled, the next round ends the loop.
        try? await Task.sleep(for: .milliseconds(5))
    }
}
