import Foundation
import Glibc
import Testing

/// A server program on loopback, ended when the body has.
package enum ServerProcess {
    /// Starts a program, waits until it is ready, runs the body, and ends the program and waits for its end.
    /// - Parameter end: The signal that ends it. SIGKILL, since Foundation's children have inherited a mask that blocks SIGTERM;
    ///   nginx sets its own mask and needs SIGTERM to end its worker.
    package static func running<Value>(
        _ arguments: [String], log: String, end: Int32 = SIGKILL,
        isReady: () async throws -> Bool, _ body: () async throws -> Value
    ) async throws -> Value {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: arguments[0])
        process.arguments = Array(arguments.dropFirst())
        process.environment = ["PATH": "/usr/sbin:/usr/bin:/bin"]
        _ = FileManager.default.createFile(atPath: log, contents: nil)
        let output = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
        process.standardOutput = output
        process.standardError = output
        process.standardInput = FileHandle.nullDevice
        let (ended, continuation) = AsyncStream<Void>.makeStream()
        process.terminationHandler = { _ in continuation.finish() }
        try process.run()
        let result: Result<Value, any Error>
        do {
            let isUp = try await until("the start of \(arguments[0])") { try await isReady() || !process.isRunning }
            guard isUp, process.isRunning else {
                let said = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
                throw ServerFailure(description: "\(arguments[0]) did not start: \(said.suffix(2000))")
            }
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        if process.isRunning { kill(process.processIdentifier, end) }
        for await _ in ended {}
        return try result.get()
    }
}

/// A server that cannot be started.
package struct ServerFailure: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
}
