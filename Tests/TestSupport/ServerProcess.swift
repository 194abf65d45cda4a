import Foundation
import Glibc
import Subprocess
import SystemPackage
import Testing

/// A server program on the loopback that is ended after the body.
package enum ServerProcess {
    /// Starts a program, waits until it is ready, runs the body, ends the program and waits for its exit.
    /// - Parameter end: The signal that ends it. nginx needs SIGTERM to end its worker.
    package static func running<Value>(
        _ arguments: [String], log: String, end: Int32 = SIGKILL,
        isReady: () async throws -> Bool, _ body: () async throws -> Value
    ) async throws -> Value {
        let output = try FileDescriptor.open(
            log, .writeOnly, options: [.create, .truncate], permissions: [.ownerReadWrite, .groupRead, .otherRead])
        // Foundation's `Process` is not used here either (see `run`), because sshd closes unknown descriptors.
        var options = PlatformOptions()
        options.processGroupID = 0
        var result: Result<Value, any Error>?
        let watch = ProcessWatch(limit: TestLimits.wait)
        _ = try await Subprocess.run(
            .path(FilePath(arguments[0])), arguments: Arguments(Array(arguments.dropFirst())),
            environment: .custom(["PATH": "/usr/sbin:/usr/bin:/bin"]), platformOptions: options, input: .none,
            output: .fileDescriptor(output, closeAfterSpawningProcess: false),
            error: .fileDescriptor(output, closeAfterSpawningProcess: true)
        ) { server in
            let pid = server.processIdentifier.value
            do {
                let isUp = try await until("the start of \(arguments[0])") {
                    try await isReady() || !ProcessWatch.isRunning(pid)
                }
                guard isUp, ProcessWatch.isRunning(pid) else {
                    let said = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
                    throw ServerFailure(description: "\(arguments[0]) did not start: \(said.suffix(2000))")
                }
                result = .success(try await body())
            } catch {
                result = .failure(error)
            }
            // The process is not reaped yet, so the number is still its own.
            kill(pid, end)
            watch.begin(pid)
        }
        await watch.end()
        guard let result else { throw ServerFailure(description: "\(arguments[0]) was not started") }
        return try result.get()
    }
}

/// An error: a server cannot be started.
package struct ServerFailure: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
}
