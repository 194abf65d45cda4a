import Foundation
import TestSupport

/// A mail server that misbehaves as real ones do.
///
/// - `busy` refuses every client for now, `closed` for good, and `stranger` every sender.
/// - `lossy` accepts the mail and disconnects before it says so.
/// - `slow` answers neither the mail nor the farewell.
/// - `late` accepts the mail only when the farewell arrives.
struct OddMailServer: Sendable {
    let url: String
    private let directory: TemporaryDirectory

    /// Whether a complete mail arrived.
    var hasMail: Bool { FileManager.default.fileExists(atPath: directory.path("taken")) }

    static func running(
        as manner: String, in directory: TemporaryDirectory, _ body: (OddMailServer) async throws -> Void
    ) async throws {
        let script = try directory.write("server.py", source)
        try await ServerProcess.running(
            ["/usr/bin/python3", script, directory.path, manner], log: directory.path("server.log"),
            isReady: { FileManager.default.fileExists(atPath: directory.path("port")) }
        ) {
            try await body(OddMailServer(url: "smtp://127.0.0.1:\(try directory.text("port"))", directory: directory))
        }
    }

    private static let source = #"""
        import os, socketserver, sys, threading
        base, manner = sys.argv[1:3]

        class Handler(socketserver.StreamRequestHandler):
            def say(self, text): self.wfile.write(text.encode() + b"\r\n")
            def handle(self):
                if manner == "busy": return self.say("421-4.3.2 too many\r\n421 4.3.2 connections, come again")
                if manner == "closed": return self.say("554 5.7.1 your address is on a list")
                self.say("220 odd.example")
                for line in self.rfile:
                    word = line[:4].upper()
                    if word == b"EHLO": self.say("250 odd.example")
                    elif word == b"MAIL" and manner == "stranger": self.say("530 5.7.0 authentication required")
                    elif word == b"QUIT": return self.say("221 farewell")
                    elif word == b"DATA":
                        self.say("354 go on")
                        for line in self.rfile:
                            if line == b".\r\n": break
                        open(base + "/taken", "w").close()
                        if manner == "slow": self.rfile.read()
                        if manner == "late":
                            self.rfile.readline()
                            self.say("250 taken as 7")
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
