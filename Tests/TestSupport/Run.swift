import Basics
import Foundation
import Subprocess
import SystemPackage

/// The result of a program.
package struct ProgramResult: Sendable {
    /// The exit status; the negative number of the signal that ended it.
    package let status: Int32
    package let standardOutput: [UInt8]
    package let standardError: [UInt8]

    package var stdout: String { String(decoding: standardOutput, as: UTF8.self) }
    package var stderr: String { String(decoding: standardError, as: UTF8.self) }
}

/// An error: a program could not be run, or failed although it must not.
package struct ProgramFailure: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
}

/// Runs a program until it exits. After the limit it is killed with its process group: a daemon that should have refused to start would run
/// forever.
/// - Parameters:
///   - arguments: The first one is looked up in PATH.
///   - environment: The whole environment; `nil` for this process's environment.
///   - limit: The time after which it is killed.
/// - Throws: `ProgramFailure` if it cannot be started or had to be killed. A status other than 0 is returned, not thrown.
package func run(
    _ arguments: [String], in directory: String? = nil, environment: [String: String]? = nil, input: String? = nil,
    limit: Duration = TestLimits.wait * 60
) async throws -> ProgramResult {
    // The output goes to files, not pipes. Then no reader is needed, and a grandchild that keeps a pipe open cannot delay the end.
    let scratch = FileManager.default.temporaryDirectory.path + "/martlet-run-" + RandomIdentifiers().next()
    let files = try Directory(creating: scratch, mode: 0o700)
    defer { try? FileManager.default.removeItem(atPath: scratch) }  // Left in the temporary directory at worst.
    for name in ["out", "err"] { try files.write(name, bytes: []) }
    try files.write("in", bytes: Array((input ?? "").utf8))

    // Foundation's `Process` is not used. Its child holds one end of a socket, and the parent learns of the exit when that end is closed. Another
    // child that is started in the same moment inherits the end and keeps it. If a child closes unknown descriptors, as sshd does, Foundation waits
    // for its exit before that of all others.
    var options = PlatformOptions()
    options.processGroupID = 0
    let watch = ProcessWatch(limit: limit)
    let result = try await Subprocess.run(
        .path("/usr/bin/env"), arguments: Arguments(arguments),
        environment: environment.map { .custom($0.reduce(into: [:]) { $0[.init(stringLiteral: $1.key)] = $1.value }) }
            ?? .inherit,
        workingDirectory: directory.map { FilePath($0) }, platformOptions: options,
        input: .fileDescriptor(try .open(scratch + "/in", .readOnly), closeAfterSpawningProcess: true),
        output: .fileDescriptor(try .open(scratch + "/out", .writeOnly), closeAfterSpawningProcess: true),
        error: .fileDescriptor(try .open(scratch + "/err", .writeOnly), closeAfterSpawningProcess: true)
    ) { watch.begin($0.processIdentifier.value) }
    await watch.end()
    guard !watch.hasKilled else {
        throw ProgramFailure(description: "\(arguments.joined(separator: " ")) did not end within \(limit)")
    }
    let status: Int32 =
        switch result.terminationStatus {
        case .exited(let code): code
        case .signaled(let signal): -signal
        }
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
