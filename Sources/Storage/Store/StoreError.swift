/// An error of the store. Results that the caller has to expect, such as a duplicate delivery or an existing version, are returned as values.
package struct StoreError: Error, CustomStringConvertible {
    /// The kind of error, for code that distinguishes cases.
    package enum Code: String, Sendable, CaseIterable {
        /// The file could not be opened as a database.
        case cannotOpen
        /// The file was written by a newer Martlet.
        case newerSchema
        /// The store is closed.
        case closed
        /// The disk or the quota is full. No row was stored; the store continues to work when space is available again.
        case full
        /// Reading or writing the file failed, or it is read-only.
        case io
        /// The file is damaged, or a row does not hold what the schema promises.
        case corrupt
        /// Another process held the database for longer than the busy timeout.
        case busy
        /// The named row does not exist.
        case notFound
        /// A row of that name already exists.
        case exists
        /// The state machine of the row does not allow the change.
        case illegalTransition
        /// The values to store exceed a documented limit.
        case tooLarge
        /// A key or check of the schema refused the row. This is an error in Martlet.
        case constraint
        /// SQLite refused a statement. This is an error in Martlet.
        case statement
    }

    package let code: Code
    /// The failed operation: `store the results of kit#3/debug/1`.
    package let operation: String
    /// What happened and what to do, in one sentence.
    package let message: String
    /// SQLite's own error, for operators.
    package let underlying: (any Error)?

    package init(code: Code, operation: String, message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.operation = operation
        self.message = message
        self.underlying = underlying
    }

    /// Whether a repeated call may succeed soon, after somebody frees space or ends the process that holds the file. No row was stored, and the
    /// caller must not give up work that depends on it.
    package var isPassing: Bool { [.full, .io, .busy].contains(code) }

    package var description: String { "\(operation) failed: \(message)" }
}
