import GRDB
import Model

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
                "the disk is full, nothing was stored; free space for the state directory, then it goes on by itself"
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
