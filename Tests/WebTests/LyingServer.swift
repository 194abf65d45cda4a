import Foundation
import TestSupport

/// A proxy between a command and a service that changes what it passes on.
enum LyingServer {
    /// The change of a file.
    enum Manner: String, Encodable {
        /// One byte is sent, and no more. `held` is in the test's directory then.
        case heldBack
        /// A zero is sent every 10 ms, without an end.
        case dripped
        /// Its bytes are sent and 64 MiB of zeros after them, without a length.
        case endless
        /// All of it is announced, and half of it is sent.
        case cut
        /// Half of it is sent, as if that were all.
        case short
        /// One bit in the middle is flipped.
        case flipped
        /// 404 is sent, with a text that is longer than the file.
        case refused
    }

    private struct Lies: Encodable {
        var instead: [String: String]
        var insteadInFiles: [String: String]
        var rewriting: [String: String]
        var manners: [String: Manner]
    }

    /// - Parameters:
    ///   - instead: The version that is requested in place of another.
    ///   - insteadInFiles: The directory that is sent in place of another: paths with a slash at both ends.
    ///   - rewriting: Replacements in the API's answers.
    ///   - manners: The changes by the names of files.
    ///   - body: Gets the proxy's URL.
    static func running(
        in web: WebFixture, instead: [String: String] = [:], insteadInFiles: [String: String] = [:],
        rewriting: [String: String] = [:], manners: [String: Manner] = [:], _ body: (String) async throws -> Void
    ) async throws {
        let directory = web.directory
        let script = try directory.write("liar.py", source)
        let lies = Lies(instead: instead, insteadInFiles: insteadInFiles, rewriting: rewriting, manners: manners)
        let text = String(decoding: try JSONEncoder().encode(lies), as: UTF8.self)
        for name in ["held", "liar.port"] { try? FileManager.default.removeItem(atPath: directory.path(name)) }
        try await ServerProcess.running(
            ["/usr/bin/python3", script, directory.path, "\(web.port)", text],
            log: directory.path("liar.log"),
            isReady: { FileManager.default.fileExists(atPath: directory.path("liar.port")) }
        ) { try await body("http://127.0.0.1:\(directory.text("liar.port"))") }
    }

    private static let source = #"""
        import json, os, sys, threading, time, urllib.error, urllib.request
        from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
        base, port, lies = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *a): pass
            def head(self, status, size):
                self.send_response(status)
                if size is not None: self.send_header("Content-Length", str(size))
                self.end_headers()
            def do_GET(self):
                directory, _, last = self.path.rpartition("/")
                directory += "/"
                if "/versions" in directory: last = lies["instead"].get(last, last)
                directory = lies["insteadInFiles"].get(directory, directory)
                try: answer = urllib.request.urlopen("http://127.0.0.1:" + port + directory + last)
                except urllib.error.HTTPError as error: answer = error
                body = answer.read()
                if "/versions" in directory:
                    for old, new in lies["rewriting"].items(): body = body.replace(old.encode(), new.encode())
                    return self.whole(answer.status, body)
                manner = lies["manners"].get(last)
                if manner == "heldBack":
                    self.head(200, len(body))
                    self.wfile.write(body[:1])
                    self.wfile.flush()
                    open(base + "/held", "w").close()
                    threading.Event().wait()
                if manner == "endless":
                    self.head(200, None)
                    self.wfile.write(body)
                    for _ in range(64): self.wfile.write(bytes(1 << 20))
                    return
                if manner == "dripped":
                    self.head(200, None)
                    while True:
                        self.wfile.write(b"\0")
                        self.wfile.flush()
                        time.sleep(0.01)
                if manner == "cut":
                    self.head(200, len(body))
                    return self.wfile.write(body[:len(body) // 2])
                if manner == "short": body = body[:len(body) // 2]
                if manner == "flipped":
                    middle = len(body) // 2
                    body = body[:middle] + bytes([body[middle] ^ 1]) + body[middle + 1:]
                if manner == "refused":
                    return self.whole(404, json.dumps({"title": "It is on the other shelf. " * 40}).encode())
                self.whole(answer.status, body)
            def whole(self, status, body):
                self.head(status, len(body))
                self.wfile.write(body)

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        with open(base + "/liar.new", "w") as f: f.write(str(server.server_port))
        os.rename(base + "/liar.new", base + "/liar.port")
        server.serve_forever()
        """#
}
