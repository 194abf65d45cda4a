import Basics
import Glibc
import TestSupport
import Testing

/// A server program that runs while a test needs it.
enum BackgroundServer {
    /// - Parameter command: A command for the shell that stays in the foreground.
    static func running<Value>(
        _ command: String, in directory: String, port: Int, _ body: () async throws -> Value
    ) async throws -> Value {
        let file = directory + "/server-\(port).pid"
        // The server's inherited descriptors are closed first. Foundation's Process would wait for each process that inherits the descriptors by
        // which it watches other programs.
        let script = """
            ( for f in /proc/self/fd/*; do n=${f##*/}; [ "$n" -gt 2 ] && eval "exec $n>&-"; done 2>/dev/null
            setsid sh -c 'echo $$ > "\(file)"; \(command.replacing("'", with: "'\\''"))' < /dev/null > /dev/null 2>&1 & )
            """
        try await runExpectingSuccess(["bash", "-c", script], in: directory, environment: GitRepository.environment())
        await until("the server listens") { LoopbackSocket.isListening(port) }
        let text = String(decoding: try WholeFile.read(file, limit: 100), as: UTF8.self)
        let pid = try #require(Int32(text.split(separator: "\n").first ?? ""))
        let result: Result<Value, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        // SIGTERM is not used: a test runner may have it blocked, and its children inherit that.
        kill(-pid, SIGKILL)
        await until("the server ends") { kill(-pid, 0) != 0 }
        return try result.get()
    }
}
