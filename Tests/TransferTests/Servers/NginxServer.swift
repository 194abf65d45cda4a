import Glibc
import TestSupport

/// A real nginx with WebDAV on the loopback. Its files are in `files` of the directory.
struct NginxServer: Sendable {
    let directory: TemporaryDirectory
    let origin: String

    /// - Parameter makesDirectories: nginx's `create_full_put_path`.
    static func running(
        in directory: TemporaryDirectory, methods: String = "PUT DELETE MKCOL MOVE", makesDirectories: Bool = false,
        _ body: (NginxServer) async throws -> Void
    ) async throws {
        let port = try LoopbackSocket.freePort()
        for name in ["files/kit", "tmp", "logs"] { try directory.makeDirectory(name) }
        let user = try await runExpectingSuccess(["id", "-un"]).split(separator: "\n")[0]
        let configuration = """
            \(user == "root" ? "user root;" : "") worker_processes 1; daemon off; pid \(directory.path)/nginx.pid;
            error_log \(directory.path)/logs/error.log;
            events { worker_connections 64; }
            http {
              access_log \(directory.path)/logs/access.log;
              client_body_temp_path \(directory.path)/tmp/body; proxy_temp_path \(directory.path)/tmp/proxy;
              fastcgi_temp_path \(directory.path)/tmp/fastcgi; uwsgi_temp_path \(directory.path)/tmp/uwsgi;
              scgi_temp_path \(directory.path)/tmp/scgi;
              client_max_body_size 0;
              server {
                listen 127.0.0.1:\(port); root \(directory.path)/files;
                location / { dav_methods \(methods); \(makesDirectories ? "create_full_put_path on;" : "") dav_access user:rw group:r all:r; }
              }
            }
            """
        let file = try directory.write("nginx.conf", configuration)
        try await ServerProcess.running(
            [TestTools.find("nginx") ?? "nginx", "-p", directory.path, "-c", file], log: directory.path("nginx.log"),
            end: SIGTERM,
            isReady: { LoopbackSocket.isListening(port) }
        ) {
            try await body(NginxServer(directory: directory, origin: "http://127.0.0.1:\(port)"))
        }
    }
}
