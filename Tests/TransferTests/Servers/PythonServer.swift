import Foundation
import TestSupport

/// A small WebDAV server in Python, with paths that misbehave as real servers do. It writes its requests to `requests`.
struct PythonServer: Sendable {
    let directory: TemporaryDirectory
    /// `http://127.0.0.1:PORT`, or with https.
    let origin: String
    /// The Unix socket; `nil` if it listens at a port.
    let socket: String?

    /// Returns the request lines in order.
    func requests() throws -> [String] {
        try directory.text("requests").split(separator: "\n").map(String.init)
    }

    /// - Parameters:
    ///   - issued: The certificate for TLS; `nil` for one that it makes itself.
    ///   - isOld: Whether it speaks only TLS 1.1.
    static func running(
        in directory: TemporaryDirectory, isTLS: Bool = false, isSocket: Bool = false,
        issued: CertificateAuthority.Issued? = nil, isOld: Bool = false,
        _ body: (PythonServer) async throws -> Void
    ) async throws {
        let script = try directory.write("server.py", source)
        try directory.write("requests", "")
        let socket = isSocket ? directory.path("socket") : nil
        if isTLS { try await makeCertificate(in: directory) }
        let (certificate, key) = (
            issued?.certificate ?? directory.path("certificate.pem"), issued?.key ?? directory.path("key.pem")
        )
        try await ServerProcess.running(
            [
                "/usr/bin/python3", script, directory.path, socket ?? "", isOld ? "old" : isTLS ? "tls" : "",
                certificate, key,
            ],
            log: directory.path("server.log"),
            isReady: { FileManager.default.fileExists(atPath: directory.path("port")) }
        ) {
            let port = try directory.text("port")
            try await body(
                PythonServer(
                    directory: directory, origin: "\(isTLS ? "https" : "http")://127.0.0.1:\(port)", socket: socket))
        }
    }

    private static let source = #"""
        import os, socket, socketserver, ssl, sys, threading, time
        from http.server import BaseHTTPRequestHandler
        from urllib.parse import urlsplit, parse_qs
        base, path, tls, certificate, key = sys.argv[1:6]
        files, collections, lock = {}, {"/kit/"}, threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def log_message(self, *a): pass
            def address_string(self): return ""
            def answer(self, status, body=b"", **headers):
                self.send_response(status)
                for k, v in headers.items(): self.send_header(k, v)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD": self.wfile.write(body)
            def body(self):
                return self.rfile.read(int(self.headers.get("Content-Length") or 0))
            def act(self):
                with lock:
                    with open(base + "/requests", "a") as f: f.write(self.requestline + "\n")
                url = urlsplit(self.path)
                p, q = url.path, {k: v[0] for k, v in parse_qs(url.query).items()}
                m, body = self.command, self.body()
                if p == "/headers":
                    return self.answer(200, "".join("%s: %s\n" % i for i in self.headers.items()).encode())
                if p == "/redirect": return self.answer(302, Location=q["to"])
                if p == "/zeros": return self.answer(200, bytes(int(q["n"])))
                if p == "/stall":
                    self.send_response(200); self.send_header("Content-Length", "10"); self.end_headers()
                    self.wfile.write(b"1"); self.wfile.flush()
                    while not os.path.exists(base + "/go"): time.sleep(0.01)
                    return self.wfile.write(b"234567890")
                if p == "/hugeheader": return self.answer(200, **{"X-%d" % i: "x" * 60000 for i in range(6)})
                if p == "/cut":
                    self.send_response(200); self.send_header("Content-Length", "10"); self.end_headers()
                    self.wfile.write(b"1"); self.close_connection = True
                    return
                if p.startswith("/private/") and self.headers.get("Authorization") not in ("Basic Y2k6c2VjcmV0", "Bearer token1"):
                    return self.answer(401)
                if p.startswith("/forbidden/"): return self.answer(403)
                def parent(p): return p.rstrip("/").rsplit("/", 1)[0] + "/"
                if m in ("GET", "HEAD"):
                    return self.answer(200, files[p]) if p in files else self.answer(404, b"There is no such file here. " * 6)
                if m == "PUT":
                    if p.startswith("/kit/") and parent(p) not in collections: return self.answer(409)
                    isnew = p not in files
                    files[p] = body[:-1] if p.startswith("/truncating/") else body
                    if p.startswith("/losing/"): self.close_connection = True; return
                    return self.answer(201 if isnew else 204)
                if m == "DELETE":
                    return self.answer(204) if files.pop(p, None) is not None else self.answer(404)
                if m == "MKCOL":
                    if p in collections: return self.answer(405)
                    if p.startswith("/kit/") and parent(p) not in collections: return self.answer(409)
                    collections.add(p); return self.answer(201)
                if m == "MOVE":
                    if p.startswith("/nomove/"): return self.answer(405)
                    to = urlsplit(self.headers["Destination"]).path
                    if p not in files: return self.answer(404)
                    if to in files and self.headers.get("Overwrite") == "F": return self.answer(412)
                    files[to] = files.pop(p)
                    if p.startswith("/losingmove/"): self.close_connection = True; return
                    return self.answer(201)
                self.answer(405)
            do_GET = do_HEAD = do_PUT = do_DELETE = do_MKCOL = do_MOVE = do_POST = do_PATCH = act

        class Server(socketserver.ThreadingMixIn, socketserver.TCPServer if not path else socketserver.UnixStreamServer):
            daemon_threads = True
            allow_reuse_address = True
            request_queue_size = 64
        server = Server(path or ("127.0.0.1", 0), Handler)
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            if tls == "old":
                context.set_ciphers("DEFAULT:@SECLEVEL=0")
                context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1_1, ssl.TLSVersion.TLSv1_1
            context.load_cert_chain(certificate, key)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        with open(base + "/port.new", "w") as f: f.write(str(0 if path else server.server_address[1]))
        os.rename(base + "/port.new", base + "/port")
        server.serve_forever()
        """#
}
