import Foundation
import TestSupport

/// A mail server that misbehaves as real ones do: `busy` refuses everybody for now, `lossy` takes the mail and breaks off before it says
/// so, `slow` never answers the mail.
struct OddMailServer: Sendable {
    let url: String

    static func running(
        as manner: String, in directory: TemporaryDirectory, _ body: (OddMailServer) async throws -> Void
    ) async throws {
        let script = try directory.write("server.py", source)
        try await ServerProcess.running(
            ["/usr/bin/python3", script, directory.path, manner], log: directory.path("server.log"),
            isReady: { FileManager.default.fileExists(atPath: directory.path("port")) }
        ) {
            try await body(OddMailServer(url: "smtp://127.0.0.1:\(try directory.text("port"))"))
        }
    }

    private static let source = #"""
        import os, socketserver, sys, threading
        base, manner = sys.argv[1:3]

        class Handler(socketserver.StreamRequestHandler):
            def say(self, text): self.wfile.write(text.encode() + b"\r\n")
            def handle(self):
                if manner == "busy": return self.say("421-4.3.2 too many\r\n421 4.3.2 connections, come again")
                self.say("220 odd.example")
                for line in self.rfile:
                    word = line[:4].upper()
                    if word == b"EHLO": self.say("250 odd.example")
                    elif word == b"DATA":
                        self.say("354 go on")
                        for line in self.rfile:
                            if line == b".\r\n": break
                        if manner == "slow": self.rfile.read()
                        return
                    else: self.say("250 fine")

        class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
            daemon_threads = True
        server = Server(("127.0.0.1", 0), Handler)
        with open(base + "/port.new", "w") as f: f.write(str(server.server_address[1]))
        os.rename(base + "/port.new", base + "/port")
        server.serve_forever()
        """#
}
