import CLinux
import Glibc
import JobProtocol
import Processes

/// Runs commands of a step with this process's environment and in its directory.
enum JobCommand {
    /// The most bytes that are read from a command's output.
    private static let outputLimit = 64 << 20

    struct Failure: Error {
        let status: Int32
        let message: String
    }

    /// Prints a command, runs it, and passes on its output.
    /// - Throws: `Failure` if it cannot be started or fails.
    static func run(_ arguments: [String], isShown: Bool = true) throws(Failure) {
        if isShown { Console.own.say("$ " + arguments.joined(separator: " ") + "\n") }
        try wait(for: try start(arguments, output: 1), arguments)
    }

    /// Runs a command and returns its standard output. Its standard error is passed on.
    /// - Throws: `Failure` if it cannot be started or fails.
    static func capture(_ arguments: [String]) throws(Failure) -> [UInt8] {
        var pipe: [Int32] = [-1, -1]
        guard clinux_pipe(&pipe) == 0 else { throw Failure(status: EX_OSERR, message: "no pipe") }
        clinux_fcntl(pipe[0], F_SETFL, 0)
        defer { close(pipe[0]) }
        let pid: Int32
        do {
            defer { close(pipe[1]) }
            pid = try start(arguments, output: pipe[1])
        }
        let bytes = SmallFile.read(pipe[0], limit: outputLimit) ?? []
        try wait(for: pid, arguments)
        return bytes
    }

    private static func start(_ arguments: [String], output: Int32) throws(Failure) -> Int32 {
        let here = clinux_open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        defer { close(here) }
        var number: Int32 = 0
        let pid = CommandVector.withStrings(arguments) { arguments in
            CommandVector.withStrings(environment().map { $0.key + "=" + $0.value }.sorted()) { environment in
                var request = clinux_spawn_request()
                request.arguments = arguments
                request.environment = environment
                request.directory = here
                (request.output, request.errors) = (output, 2)
                // The limits, the user and the control group stay those of this process.
                (request.user, request.group, request.file_bytes, request.processes) = (-1, -1, -1, -1)
                return clinux_spawn(&request, &number)
            }
        }
        guard pid >= 0 else {
            let reason = SystemError(number: number).text
            throw Failure(status: 127, message: "\(arguments[0]) cannot be started: \(reason)")
        }
        return pid
    }

    private static func wait(for pid: Int32, _ arguments: [String]) throws(Failure) {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        guard clinux_wait_has_exited(status) != 0 else {
            let signal = clinux_wait_signal(status)
            throw Failure(status: 128 + signal, message: "\(arguments[0]) was ended by \(SignalName.of(signal))")
        }
        let exit = clinux_wait_exit_status(status)
        guard exit == 0 else { throw Failure(status: exit, message: "\(arguments[0]) exited with \(exit)") }
    }

    /// Returns this process's environment.
    static func environment() -> [String: String] {
        var environment: [String: String] = [:]
        for entry in (SmallFile.read("/proc/self/environ", limit: 4 << 20) ?? []).split(separator: 0) {
            guard let equals = entry.firstIndex(of: UInt8(ascii: "=")) else { continue }
            environment[String(decoding: entry[..<equals], as: UTF8.self)] = String(
                decoding: entry[(equals + 1)...], as: UTF8.self)
        }
        return environment
    }
}
