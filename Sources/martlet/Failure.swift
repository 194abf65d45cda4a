import ArgumentParser
import Foundation
import Model

/// A sentence for the person at the terminal and the exit status that goes with it (sysexits.h).
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
        /// 128 and SIGINT's number, as shells have it.
        case canceled = 130
    }

    let status: Status
    let description: String

    /// - Parameter description: Reduced to one line, since it can contain foreign texts.
    init(_ status: Status, _ description: String) { self.init(status, lines: [description]) }

    /// - Parameter lines: Each is reduced to one line.
    init(_ status: Status, lines: [String]) {
        self.status = status
        description = lines.map(\.inOneLine).joined(separator: "\n")
    }

    /// Prints the sentence, and ends the command with the status.
    static func exiting<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let failure as Failure {
            FileHandle.standardError.write(Data(("martlet: " + failure.description + "\n").utf8))
            throw ExitCode(failure.status.rawValue)
        }
    }
}
