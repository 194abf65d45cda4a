import CLinux

/// Marks on threads and tasks that show which work answers a request.
///
/// A trap that ends the daemon is attributed to the work of the thread on which it happened (`CrashMarks`). The work for requests is therefore marked
/// everywhere: on the threads of event loops, in tasks, and on serial queues, which inherit the mark from their callers.
package enum AnsweringThread {
    /// Whether this task answers a request.
    @TaskLocal package static var isAnswering = false

    /// Marks the calling thread as one that answers requests for as long as it lives.
    package static func mark() { _ = clinux_answer_here(1) }

    /// Whether the calling thread, or its task, answers a request.
    package static var isCurrent: Bool { clinux_answers_here() != 0 || isAnswering }

    /// Runs work for a caller on another thread, with the mark of that caller.
    /// - Parameter isAnswer: The value of `isCurrent` where the work was submitted.
    package static func working<Value, Failure: Error>(
        isAnswer: Bool, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let before = clinux_answer_here(isAnswer ? 1 : 0)
        defer { _ = clinux_answer_here(before) }
        return try body()
    }
}
