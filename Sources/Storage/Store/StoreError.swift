import GRDB
import Model

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

extension StoreError {
    /// Converts an error thrown by a closure that works on the database.
    init(_ error: any Error, operation: String) {
        switch error {
        case let error as StoreError:
            self = error
        case let error as Refusal:
            self.init(code: error.code, operation: operation, message: error.message)
        case let error as IllegalTransition:
            self.init(
                code: .illegalTransition, operation: operation, message: "\(error); nothing was stored",
                underlying: error)
        case let error as DatabaseError:
            let (code, message) = Self.meaning(of: error)
            self.init(code: code, operation: operation, message: message, underlying: error)
        default:
            self.init(
                code: .statement, operation: operation,
                message: "\(error); this is a mistake in Martlet, please report it", underlying: error)
        }
    }

    /// Returns our code and message for SQLite's result codes (sqlite.org/rescode.html).
    private static func meaning(of error: DatabaseError) -> (Code, String) {
        switch error.resultCode {
        case .SQLITE_FULL:
            (
                .full,
                "the disk is full, nothing was stored; free space for the state directory; Martlet then goes on by itself"
            )
        case .SQLITE_IOERR, .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM:
            (
                .io,
                "the database file cannot be read or written (\(error)); check the disk and the state directory's owner "
                    + "and mode"
            )
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            (.corrupt, "the database file is damaged (\(error)); stop the daemon and restore a backup")
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            (.busy, "another process holds the database; end it, Martlet needs it alone")
        case .SQLITE_MISUSE:
            (.closed, "the store is closed")
        case .SQLITE_TOOBIG:
            (.tooLarge, "a value is larger than SQLite takes")
        case .SQLITE_CONSTRAINT:
            (.constraint, "the database refused the row (\(error)); this is a mistake in Martlet, please report it")
        default:
            (.statement, "SQLite answered \(error); this is a mistake in Martlet, please report it")
        }
    }
}

/// An error thrown inside a closure that works on the database. `StoreError` adds the operation's name.
struct Refusal: Error {
    let code: StoreError.Code
    let message: String

    static func notFound(_ what: some CustomStringConvertible) -> Refusal {
        Refusal(code: .notFound, message: "there is no \(what)")
    }
}
