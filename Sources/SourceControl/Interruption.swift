/// Whether long work on a lane is to stop. Its thread knows of no task, and neither libgit2 nor a call that waits for the disk can be
/// interrupted: so the work asks between two of its steps.
struct Interruption: Sendable {
    private let isRequestedNow: @Sendable () -> Bool

    /// - Parameter isRequested: Asked on the lane's thread, for each file. Once true, it stays so.
    init(isRequested: @escaping @Sendable () -> Bool) { isRequestedNow = isRequested }

    var isRequested: Bool { isRequestedNow() }

    /// - Throws: `canceled`, when the work is to stop.
    func check(_ operation: String) throws(SourceControlError) {
        guard isRequested else { return }
        throw SourceControlError(code: .canceled, operation: operation, message: "it was canceled")
    }
}
