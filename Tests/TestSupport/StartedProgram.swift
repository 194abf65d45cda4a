import Glibc
import Subprocess
import SystemPackage
package import Testing

/// A program that runs beside the test, in a process group of its own, with every signal as a program expects it: whoever starts the
/// tests by nohup(1) leaves SIGHUP ignored, and a program inherits that.
package struct StartedProgram: Sendable {
    package let pid: Int32
    private let status: Task<Int32, any Error>

    /// Starts it.
    /// - Parameters:
    ///   - arguments: The first is a path.
    ///   - environment: All that it gets.
    ///   - output: A file that standard output and standard error are appended to.
    /// - Throws: Subprocess's error when it cannot be started.
    package static func start(
        _ arguments: [String], in directory: String? = nil, environment: [String: String], output: String
    ) async throws -> StartedProgram {
        let file = try FileDescriptor.open(
            output, .writeOnly, options: [.create, .append], permissions: [.ownerReadWrite, .groupRead, .otherRead])
        // As `run`, not by Foundation's Process, which also hands down what is ignored.
        var options = PlatformOptions()
        options.processGroupID = 0
        let (identifiers, told) = AsyncStream.makeStream(of: Int32.self)
        let status = Task { [options] in
            defer { told.finish() }
            let result = try await Subprocess.run(
                .path(FilePath(arguments[0])), arguments: Arguments(Array(arguments.dropFirst())),
                environment: .custom(environment.reduce(into: [:]) { $0[.init(stringLiteral: $1.key)] = $1.value }),
                workingDirectory: directory.map { FilePath($0) }, platformOptions: options, input: .none,
                output: .fileDescriptor(file, closeAfterSpawningProcess: false),
                error: .fileDescriptor(file, closeAfterSpawningProcess: true)
            ) { told.yield($0.processIdentifier.value) }
            return switch result.terminationStatus {
            case .exited(let code): code
            case .signaled(let signal): -signal
            }
        }
        guard let pid = await identifiers.first(where: { _ in true }) else {
            throw ProgramFailure(description: "\(arguments[0]) was not started: \(await status.result)")
        }
        return StartedProgram(pid: pid, status: status)
    }

    /// Sends the program a signal, unless it has exited.
    package func signal(_ signal: Int32) {
        if ProcessWatch.isRunning(pid) { kill(pid, signal) }
    }

    /// Awaits its end. One that has not ended within the limit is killed with its process group, and is an issue.
    /// - Returns: Its exit status; the negative number of the signal that ended it.
    @discardableResult
    package func end(
        within limit: Duration = TestLimits.wait * 6, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Int32 {
        let watch = ProcessWatch(limit: limit)
        watch.begin(pid)
        let status = try await status.value
        await watch.end()
        if watch.hasKilled {
            Issue.record("process \(pid) did not end within \(limit) and was killed", sourceLocation: sourceLocation)
        }
        return status
    }
}
