import TestSupport

/// git's own server, at a free port of the loopback.
struct GitDaemon {
    let port: Int

    /// Serves everything below a directory while `body` runs.
    static func serving<Value>(_ directory: String, _ body: (GitDaemon) async throws -> Value) async throws -> Value {
        let port = try LoopbackSocket.freePort()
        let command =
            "exec git daemon --reuseaddr --listen=127.0.0.1 --port=\(port) --export-all --base-path='\(directory)'"
        return try await BackgroundServer.running(command, in: directory, port: port) {
            try await body(GitDaemon(port: port))
        }
    }
}
