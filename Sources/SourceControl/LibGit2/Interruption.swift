/// A request to stop long work on a serial queue. The queue's thread belongs to no task, and neither libgit2 nor a call that waits for the disk can be
/// interrupted. So the work checks it between two of its steps.
struct Interruption: Sendable {
    private let isRequestedNow: @Sendable () -> Bool

    /// - Parameter isRequested: Called on the queue's thread, for each file. Once it returns true, it must continue to do so.
    init(isRequested: @escaping @Sendable () -> Bool) { isRequestedNow = isRequested }

    var isRequested: Bool { isRequestedNow() }

    /// Checks whether to stop.
    /// - Throws: `canceled` if the work is to stop.
    func check(_ operation: String) throws(SourceControlError) {
        guard isRequested else { return }
        throw SourceControlError(code: .canceled, operation: operation, message: "it was canceled")
    }
}
