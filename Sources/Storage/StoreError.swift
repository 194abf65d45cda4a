/// The store could not do its work. An answer that the caller has to expect (a duplicate delivery, a version that
/// exists already) is a value, not one of these.
package struct StoreError: Error, CustomStringConvertible {
    /// What went wrong, for code that has to tell cases apart.
    package enum Code: String, Sendable, CaseIterable {
        /// The file could not be opened as a database.
        case cannotOpen
        /// The file was written by a newer Martlet.
        case newerSchema
        /// The store was closed before.
        case closed
        /// The disk or the quota is full. Nothing was stored; the store goes on working when space returns.
        case full
        /// Reading or writing the file failed, or it is read-only.
        case io
        /// The file is damaged, or a row does not hold what the schema promises.
        case corrupt
        /// Another process held the database for longer than the busy timeout.
        case busy
        /// The row that was named does not exist.
        case notFound
        /// A row of that name exists.
        case exists
        /// The state machine of the row does not allow the change.
        case illegalTransition
        /// What was to be stored is beyond a documented limit.
        case tooLarge
        /// A key or check of the schema refused the row: a mistake of ours.
        case constraint
        /// SQLite refused a statement: a mistake of ours.
        case statement
    }

    package let code: Code
    /// What was being done: `store the results of kit#3/debug/1`.
    package let operation: String
    /// What happened and what to do, in a sentence.
    package let message: String
    /// SQLite's own error, for operators.
    package let underlying: (any Error)?

    package init(code: Code, operation: String, message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.operation = operation
        self.message = message
        self.underlying = underlying
    }

    /// Whether the same may succeed in a moment, when somebody has made room or has ended what holds the file: nothing was stored, and
    /// nothing that depends on it may be given up.
    package var isPassing: Bool { [.full, .io, .busy].contains(code) }

    package var description: String { "\(operation) failed: \(message)" }
}
