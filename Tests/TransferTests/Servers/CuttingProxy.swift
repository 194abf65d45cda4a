import Foundation
import Glibc
import TestSupport

/// A proxy on loopback that breaks connections after a number of bytes from the clients, over all connections together.
///
/// Bytes from before the cut are passed on to the server. Then the server's end is closed and the client's is reset. Several ports share one
/// count, because an ftp client's commands are few bytes beside its data.
struct CuttingProxy: Sendable {
    let directory: TemporaryDirectory
    /// The proxy's ports, by the server's port.
    let ports: [Int: Int]

    /// Returns the number of connections that were cut so far.
    func cuts() throws -> Int { try directory.text("proxy.cuts").split(separator: "\n").count }

    /// Cuts after `bytes` more bytes from the clients.
    func cut(after bytes: Int) throws {
        try directory.write("proxy.next", "\(bytes)")
        guard rename(directory.path("proxy.next"), directory.path("proxy.cut")) == 0 else {
            throw ServerFailure(description: "the cut cannot be told")
        }
    }

    /// - Parameters:
    ///   - ways: For each server's address and port, the port of 127.0.0.1 to listen at; `nil` for any.
    ///   - cuts: The places of the cuts in bytes, ascending.
    static func running(
        in directory: TemporaryDirectory, to ways: [(address: String, port: Int, listen: Int?)], cuts: [Int],
        _ body: (CuttingProxy) async throws -> Void
    ) async throws {
        let script = try directory.write("proxy.py", source)
        try directory.write("proxy.cuts", "")
        let arguments = ways.map { "\($0.address):\($0.port):\($0.listen ?? 0)" }
        try await ServerProcess.running(
            ["/usr/bin/python3", script, directory.path, cuts.map(String.init).joined(separator: ",")] + arguments,
            log: directory.path("proxy.log"),
            isReady: { FileManager.default.fileExists(atPath: directory.path("proxy.ports")) }
        ) {
            let listening = try directory.text("proxy.ports").split(separator: " ").compactMap { Int($0) }
            try await body(
                CuttingProxy(
                    directory: directory,
                    ports: Dictionary(zip(ways.map(\.port), listening), uniquingKeysWith: { first, _ in first })))
        }
    }

    private static let source = #"""
        import os, select, socket, struct, sys, threading
        base, cuts = sys.argv[1], [int(c) for c in sys.argv[2].split(",") if c]
        lock, total = threading.Lock(), 0

        def take(count):
            """How many of so many bytes go on before the next cut, and whether it comes then."""
            global total
            with lock:
                try:
                    with open(base + "/proxy.cut") as f: cuts[:] = [total + int(f.read())]
                    os.unlink(base + "/proxy.cut")
                except OSError: pass
                if cuts and total + count >= cuts[0]:
                    allowed = cuts.pop(0) - total
                    total += allowed
                    with open(base + "/proxy.cuts", "a") as f: f.write("%d\n" % total)
                    return allowed, True
                total += count
                return count, False

        def carry(client, server):
            try:
                while True:
                    for ready in select.select([client, server], [], [])[0]:
                        data = ready.recv(65536)
                        if ready is server:
                            if not data: return
                            client.sendall(data)
                            continue
                        if not data:
                            server.shutdown(socket.SHUT_WR)
                            # What the server still says.
                            while True:
                                data = server.recv(65536)
                                if not data: return
                                client.sendall(data)
                        count, is_cut = take(len(data))
                        server.sendall(data[:count])
                        if is_cut:
                            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                            return
            except OSError: pass
            finally:
                server.close()
                client.close()

        def serve(listener, target):
            while True:
                client, _ = listener.accept()
                try: server = socket.create_connection(target)
                except OSError:
                    client.close()
                    continue
                threading.Thread(target=carry, args=(client, server), daemon=True).start()

        ports = []
        for way in sys.argv[3:]:
            address, port, listen = way.split(":")
            listener = socket.create_server(("127.0.0.1", int(listen)))
            ports.append(str(listener.getsockname()[1]))
            threading.Thread(target=serve, args=(listener, (address, int(port))), daemon=True).start()
        with open(base + "/proxy.new", "w") as f: f.write(" ".join(ports))
        os.rename(base + "/proxy.new", base + "/proxy.ports")
        threading.Event().wait()
        """#
}
