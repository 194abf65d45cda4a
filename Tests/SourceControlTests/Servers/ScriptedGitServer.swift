import Basics
import Glibc
import Model
import TestSupport

/// A `git://` server on the loopback that lists one branch, and answers a fetch with given bytes.
enum ScriptedGitServer {
    /// What the server sends in place of a pack.
    enum Answer: Sendable {
        /// Sends bytes, and closes the connection.
        case bytes([UInt8])
        /// Sends bytes, and breaks the connection (RST).
        case broken([UInt8])
        /// Sends an endless list of refs.
        case endlessList
        /// Sends bytes, and then more, one after the other, until the client disconnects.
        case endless([UInt8], more: @Sendable (Int) -> [UInt8])
    }

    /// - Parameters:
    ///   - commit: The head of `main` in the list.
    ///   - answer: The answer to a fetch, at its time.
    static func serving(_ commit: CommitID, _ answer: Locked<Answer>, _ body: (_ url: String) async throws -> Void)
        async throws
    {
        let socket = try LoopbackSocket()
        try await withThrowingTaskGroup(of: Void.self) { group in
            let queue = SerialQueue(label: "git-server")
            group.addTask { await queue.run { serve(socket, commit, answer) } }
            let result: Result<Void, any Error>
            do {
                try await body("git://127.0.0.1:\(socket.port)/kit")
                result = .success(())
            } catch {
                result = .failure(error)
            }
            socket.stop()
            try await group.waitForAll()
            try result.get()
        }
    }

    private static func serve(_ socket: LoopbackSocket, _ commit: CommitID, _ answer: Locked<Answer>) {
        while let connection = socket.accepted() {
            if case .endlessList = answer.value {
                list(without: connection, commit)
            } else if hasAsked(connection, commit) {
                send(answer.value, to: connection)
            }
            close(connection)
        }
    }

    /// Talks until the client waits for a pack, or disconnects after the list.
    private static func hasAsked(_ connection: Int32, _ commit: CommitID) -> Bool {
        guard packet(from: connection) != nil else { return false }
        // Version 0 (gitprotocol-pack(5)) without side-band: the raw pack follows.
        let list = [
            "\(commit) HEAD\0symref=HEAD:refs/heads/main ofs-delta agent=git/2.39\n", "\(commit) refs/heads/main\n",
        ]
        guard write(Array(list.map(framed).joined().utf8) + Array("0000".utf8), to: connection) else {
            return false
        }
        var hasAsked = false
        while true {
            guard let line = packet(from: connection) else { break }
            if line.starts(with: "want ".utf8) { hasAsked = true }
            if line.starts(with: "done".utf8) { break }
            if line.isEmpty, !hasAsked { return false }
        }
        return hasAsked && write(Array(framed("NAK\n").utf8), to: connection)
    }

    private static func send(_ answer: Answer, to connection: Int32) {
        switch answer {
        case .endlessList: break
        case .bytes(let bytes): _ = write(bytes, to: connection)
        case .broken(let bytes):
            _ = write(bytes, to: connection)
            var hard = linger(l_onoff: 1, l_linger: 0)
            setsockopt(connection, SOL_SOCKET, SO_LINGER, &hard, socklen_t(MemoryLayout<linger>.size))
        case .endless(let bytes, let more):
            guard write(bytes, to: connection) else { return }
            var count = 0
            while write(more(count), to: connection) { count += 1 }
        }
    }

    private static func list(without connection: Int32, _ commit: CommitID) {
        guard packet(from: connection) != nil else { return }
        let lines = (0..<1000).map { framed("\(commit) refs/heads/\($0)-\(String(repeating: "x", count: 200))\n") }
        let bytes = Array(lines.joined().utf8)
        while write(bytes, to: connection) {}
    }

    private static func framed(_ text: String) -> String {
        let digits = String(text.utf8.count + 4, radix: 16)
        return String(repeating: "0", count: 4 - digits.count) + digits + text
    }

    /// Returns the next packet; empty for a flush, `nil` if the client has disconnected.
    private static func packet(from connection: Int32) -> [UInt8]? {
        guard let head = read(4, from: connection), let length = Int(String(decoding: head, as: UTF8.self), radix: 16)
        else { return nil }
        return length <= 4 ? [] : read(length - 4, from: connection)
    }

    private static func read(_ count: Int, from connection: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let result = bytes.withUnsafeMutableBytes { recv(connection, $0.baseAddress! + done, count - done, 0) }
            guard result > 0 else { return nil }
            done += result
        }
        return bytes
    }

    private static func write(_ bytes: [UInt8], to connection: Int32) -> Bool {
        var done = 0
        while done < bytes.count {
            let result = bytes.withUnsafeBytes {
                Glibc.send(connection, $0.baseAddress! + done, bytes.count - done, Int32(MSG_NOSIGNAL))
            }
            guard result > 0 else { return false }
            done += result
        }
        return true
    }
}
