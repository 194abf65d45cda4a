import Foundation
import TestSupport

/// What stands between a tool and a service, and does not hand on all as it is.
enum LyingServer {
    /// - Parameters:
    ///   - instead: What is asked in place of a version.
    ///   - holdsBack: A file of which a byte is sent, and no more; `held` then lies in the test's directory.
    ///   - body: Gets its URL.
    static func running(
        in web: WebFixture, instead: [String: String] = [:], holdsBack: String = "",
        _ body: (String) async throws -> Void
    ) async throws {
        let directory = web.directory
        let script = try directory.write("liar.py", source)
        let pairs = instead.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        try await ServerProcess.running(
            ["/usr/bin/python3", script, directory.path, "\(web.port)", pairs, holdsBack],
            log: directory.path("liar.log"),
            isReady: { FileManager.default.fileExists(atPath: directory.path("liar.port")) }
        ) { try await body("http://127.0.0.1:\(directory.text("liar.port"))") }
    }

    private static let source = #"""
        import os, sys, threading, urllib.error, urllib.request
        from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
        base, port, pairs, held = sys.argv[1:5]
        instead = dict(pair.split("=") for pair in pairs.split())

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *a): pass
            def do_GET(self):
                head, _, last = self.path.rpartition("/")
                path = head + "/" + (instead.get(last, last) if "/versions" in head else last)
                try: answer = urllib.request.urlopen("http://127.0.0.1:" + port + path)
                except urllib.error.HTTPError as error: answer = error
                body = answer.read()
                self.send_response(answer.status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if held and last == held:
                    self.wfile.write(body[:1])
                    self.wfile.flush()
                    open(base + "/held", "w").close()
                    threading.Event().wait()
                self.wfile.write(body)

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        with open(base + "/liar.new", "w") as f: f.write(str(server.server_port))
        os.rename(base + "/liar.new", base + "/liar.port")
        server.serve_forever()
        """#
}
