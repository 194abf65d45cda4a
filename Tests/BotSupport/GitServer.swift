import Basics
import Glibc
package import TestSupport
import Testing

/// git's own server on the loopback, which the test starts and stops.
package struct GitServer: Sendable {
    package let port: Int
    private let directory: TemporaryDirectory
    private var pidFile: String { directory.path("git-daemon-\(port).pid") }

    /// Takes a port at which no server listens.
    /// - Parameter directory: The directory that is served.
    package init(of directory: TemporaryDirectory) throws {
        port = try LoopbackSocket.freePort()
        self.directory = directory
    }

    package func url(_ repository: String) -> String { "git://127.0.0.1:\(port)/\(repository)" }

    package func start() async throws {
        // The server does not inherit our descriptors: a process that waits until they are closed would wait for the server's end.
        let script = """
            for f in /proc/self/fd/*; do n=${f##*/}; [ "$n" -gt 2 ] && eval "exec $n>&-"; done 2>/dev/null
            exec git daemon --detach --reuseaddr --listen=127.0.0.1 --port=\(port) --export-all \
                --pid-file='\(pidFile)' --base-path='\(directory.path)'
            """
        try await runExpectingSuccess(
            ["bash", "-c", script], in: directory.path, environment: GitRepository.environment())
        await until("the git server listens") { LoopbackSocket.isListening(port) }
    }

    package func stop() async throws {
        let text = String(decoding: try WholeFile.read(pidFile, limit: 100), as: UTF8.self)
        guard let process = Int32(text.prefix { $0.isNumber }) else { throw BotFailure("no process in \(pidFile)") }
        kill(process, SIGKILL)
        await until("the git server's end") { !LoopbackSocket.isListening(port) }
    }

    /// Runs the server while `body` runs.
    package func serving<Value>(_ body: () async throws -> Value) async throws -> Value {
        try await start()
        let result: Result<Value, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        try await stop()
        return try result.get()
    }
}
