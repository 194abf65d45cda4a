import CLinux

/// A thread on which people are answered: an event loop's.
package enum AnsweringThread {
    /// The calling thread, which lives as long as the process, goes before jobs and all else on the processors as long as it waits now and
    /// then: see `clinux_answer_first`. Called for each request. In a process that is not the daemon, and where it may not, nothing changes.
    package static func goFirst() { clinux_answer_first() }
}
