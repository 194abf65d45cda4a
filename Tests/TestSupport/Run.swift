import Basics
import Foundation
import Subprocess
import SystemPackage

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

    package init(description: String) { self.description = description }
}

/// Runs a program to its end. One that does not end is killed with its process group: a daemon that should have refused to start would
/// serve for ever.
/// - Parameters:
///   - arguments: The first is looked up in PATH.
///   - environment: All that it gets; nothing: this process's own.
///   - limit: How long it may take.
/// - Throws: `ProgramFailure` when it cannot be started, or had to be killed. A status other than 0 is returned, not thrown.
package func run(
    _ arguments: [String], in directory: String? = nil, environment: [String: String]? = nil, input: String? = nil,
    limit: Duration = TestLimits.wait * 60
) async throws -> ProgramResult {
    // Files, not pipes: nobody has to read while it runs, and a grandchild that keeps them open does not hold us up.
    let scratch = FileManager.default.temporaryDirectory.path + "/martlet-run-" + RandomIdentifiers().next()
    let files = try Directory(creating: scratch, mode: 0o700)
    defer { try? FileManager.default.removeItem(atPath: scratch) }  // Left in the temporary directory at worst.
    for name in ["out", "err"] { try files.write(name, bytes: []) }
    try files.write("in", bytes: Array((input ?? "").utf8))

    // Not by Foundation's Process: its child holds one end of a socket, by whose close the parent knows of the end. Another child that is
    // started in the same moment inherits it, and keeps it for as long as it lives; and one that closes what it does not know, as sshd
    // does, has Foundation wait for its end before it looks at any other's.
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
