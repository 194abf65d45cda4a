import Basics
import Foundation

/// What a program came to.
package struct ProgramResult: Sendable {
    /// The exit status; the negative number of the signal that ended it.
    package let status: Int32
    package let standardOutput: [UInt8]
    package let standardError: [UInt8]

    package var stdout: String { String(decoding: standardOutput, as: UTF8.self) }
    package var stderr: String { String(decoding: standardError, as: UTF8.self) }
}

/// A program that could not be run, or that failed where it must not.
package struct ProgramFailure: Error, CustomStringConvertible {
    package let description: String
}

/// Runs a program to its end.
/// - Parameters:
///   - arguments: The first is looked up in PATH.
///   - environment: All that it gets; nothing: this process's own.
/// - Throws: `ProgramFailure` when it cannot be started. A status other than 0 is returned, not thrown.
package func run(
    _ arguments: [String], in directory: String? = nil, environment: [String: String]? = nil, input: String? = nil
) async throws -> ProgramResult {
    // Files, not pipes: nobody has to read while it runs, and a grandchild that keeps them open does not hold us up.
    let scratch = FileManager.default.temporaryDirectory.path + "/martlet-run-" + RandomIdentifiers().next()
    let files = try Directory(creating: scratch, mode: 0o700)
    defer { try? FileManager.default.removeItem(atPath: scratch) }  // Left in the temporary directory at worst.
    for name in ["out", "err"] { try files.write(name, bytes: []) }
    try files.write("in", bytes: Array((input ?? "").utf8))

    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    if let directory { process.currentDirectoryURL = URL(fileURLWithPath: directory, isDirectory: true) }
    if let environment { process.environment = environment }
    let handles = [
        try FileHandle(forReadingFrom: URL(fileURLWithPath: scratch + "/in")),
        try FileHandle(forWritingTo: URL(fileURLWithPath: scratch + "/out")),
        try FileHandle(forWritingTo: URL(fileURLWithPath: scratch + "/err")),
    ]
    (process.standardInput, process.standardOutput, process.standardError) = (handles[0], handles[1], handles[2])
    // The program has its own; ours would stay open as long as the process object lives.
    defer { for handle in handles { try? handle.close() } }
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        process.terminationHandler = { _ in continuation.resume() }
        do {
            try process.run()
        } catch {
            process.terminationHandler = nil
            continuation.resume(throwing: ProgramFailure(description: "\(arguments) cannot be started: \(error)"))
        }
    }
    let status = process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    return ProgramResult(
        status: status, standardOutput: try WholeFile.read(scratch + "/out", limit: 256 << 20),
        standardError: try WholeFile.read(scratch + "/err", limit: 256 << 20))
}

/// Runs a program that must succeed.
/// - Returns: Its standard output as text.
@discardableResult
package func runExpectingSuccess(
    _ arguments: [String], in directory: String? = nil, environment: [String: String]? = nil, input: String? = nil
) async throws -> String {
    let result = try await run(arguments, in: directory, environment: environment, input: input)
    guard result.status == 0 else {
        throw ProgramFailure(
            description:
                "\(arguments.joined(separator: " ")) ended with \(result.status)\n\(result.stdout)\(result.stderr)")
    }
    return result.stdout
}
