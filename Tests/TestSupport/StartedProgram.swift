import Glibc
import Subprocess
import SystemPackage
package import Testing

/// A program that runs beside the test, in its own process group and with default signal handling. nohup(1) leaves SIGHUP ignored in the tests, and
/// a program would inherit that.
package struct StartedProgram: Sendable {
    package let pid: Int32
    private let status: Task<Int32, any Error>

    /// Starts a program.
    /// - Parameters:
    ///   - arguments: The first one is a path.
    ///   - environment: The whole environment.
    ///   - output: The file to which standard output and standard error are appended.
    /// - Throws: Subprocess's error if it cannot be started.
    package static func start(
        _ arguments: [String], in directory: String? = nil, environment: [String: String], output: String
    ) async throws -> StartedProgram {
        let file = try FileDescriptor.open(
            output, .writeOnly, options: [.create, .append], permissions: [.ownerReadWrite, .groupRead, .otherRead])
        // Foundation's `Process` is not used (see `run`); it would also pass on ignored signals.
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

    /// Waits until the program exits. After the limit it is killed with its process group, and an issue is recorded.
    /// - Returns: Its exit status, or the negative number of the signal that ended it.
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
