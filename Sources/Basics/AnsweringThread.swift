import CLinux

/// Which work is done to answer a request.
///
/// A fault of the daemon's own that ends it is blamed on the work of the thread that had it (`CrashMarks`). So requests' work is told from
/// integrations' wherever it runs: on the threads of event loops, in tasks, and on lanes, which take it over from their callers.
package enum AnsweringThread {
    /// Whether this task answers a request.
    @TaskLocal package static var isAnswering = false

    /// The calling thread answers requests for as long as it lives.
    package static func mark() { _ = clinux_answer_here(1) }

    /// Whether the calling thread, or its task, answers a request.
    package static var isCurrent: Bool { clinux_answers_here() != 0 || isAnswering }

    /// Runs what a thread does for a caller elsewhere.
    /// - Parameter isAnswer: What `isCurrent` said where the work was handed over.
    package static func working<Value, Failure: Error>(
        isAnswer: Bool, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let before = clinux_answer_here(isAnswer ? 1 : 0)
        defer { _ = clinux_answer_here(before) }
        return try body()
    }

    /// The calling thread, which lives as long as the process, goes before jobs and all else on the processors as long as it waits now and
    /// then: see `clinux_answer_first`. Called for each request. In a process that is not the daemon, and where it may not, nothing changes.
    package static func goFirst() { clinux_answer_first() }
}
