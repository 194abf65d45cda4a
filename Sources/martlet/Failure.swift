import ArgumentParser
import Foundation
import Model

/// A message for the user and the command's exit status (sysexits.h).
struct Failure: Error, CustomStringConvertible {
    enum Status: Int32 {
        case no = 1
        case usage = 64
        case notFound = 66
        case unavailable = 69
        case software = 70
        case cannotCreate = 73
        case denied = 77
        case configuration = 78
        /// 128 plus the number of SIGINT, as in shells.
        case canceled = 130
    }

    let status: Status
    let description: String

    /// Creates a failure.
    /// - Parameter description: The message. It is reduced to one line, since it can contain text from outside.
    init(_ status: Status, _ description: String) { self.init(status, lines: [description]) }

    /// Creates a failure with several lines.
    /// - Parameter lines: The message. Each element is reduced to one line.
    init(_ status: Status, lines: [String]) {
        self.status = status
        description = lines.map(\.inOneLine).joined(separator: "\n")
    }

    /// Prints the message to standard error.
    func print() { FileHandle.standardError.write(Data(("martlet: " + description + "\n").utf8)) }

    /// Runs a command's body. A failure is printed, and becomes the exit status.
    static func exiting<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let failure as Failure {
            failure.print()
            throw ExitCode(failure.status.rawValue)
        }
    }
}
