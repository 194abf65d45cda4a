import Basics
import Glibc
import TestSupport
import Testing

/// git's own server, on a free port of the loopback.
struct GitDaemon {
    let port: Int
    private let pid: Int32

    /// Serves everything beneath a directory while `body` runs.
    static func serving<Value>(_ directory: String, _ body: (GitDaemon) async throws -> Value) async throws -> Value {
        let port = try LoopbackSocket.freePort()
        let file = directory + "/daemon.pid"
        // Its own descriptors are closed first: Foundation's Process would wait for the end of whoever inherits those by
        // which it watches other programs.
        let script = """
            ( for f in /proc/self/fd/*; do n=${f##*/}; [ "$n" -gt 2 ] && eval "exec $n>&-"; done 2>/dev/null
            exec /usr/lib/git-core/git-daemon --reuseaddr --listen=127.0.0.1 --port=\(port) --export-all \
            --base-path='\(directory)' --detach --pid-file='\(file)' )
            """
        try await runExpectingSuccess(["bash", "-c", script], environment: GitRepository.environment())
        await until("git daemon listens") { LoopbackSocket.isListening(port) }
        let text = String(decoding: try WholeFile.read(file, limit: 100), as: UTF8.self)
        let pid = try #require(Int32(text.split(separator: "\n").first ?? ""))
        let result: Result<Value, any Error>
        do {
            result = .success(try await body(GitDaemon(port: port, pid: pid)))
        } catch {
            result = .failure(error)
        }
        // Not SIGTERM: a test runner may have it blocked, and its children inherit that.
        kill(pid, SIGKILL)
        await until("git daemon ends") { kill(pid, 0) != 0 }
        return try result.get()
    }
}
