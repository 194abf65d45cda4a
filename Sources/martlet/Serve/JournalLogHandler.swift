import Glibc
package import Logging

/// Writes lines to journald by its native protocol, with a priority and a field for each value (systemd.io/JOURNAL_NATIVE_PROTOCOL).
package struct JournalLogHandler: LogHandler {
    /// See `LogHandler`.
    package var metadata: Logger.Metadata = [:]
    /// See `LogHandler`.
    package var logLevel: Logger.Level = .info
    private let send: @Sendable ([UInt8]) -> Bool

    /// journald's socket.
    package static let socketPath = "/run/systemd/journal/socket"
    /// The most bytes of one value. A datagram of many values still fits into a socket's buffer (net.core.wmem_default, 208 KiB).
    static let maximumValue = 8 << 10
    /// The most values of one line; journald keeps 1,024.
    static let maximumFields = 16

    /// - Parameter send: Sends a datagram, and returns whether it was accepted.
    package init(send: @escaping @Sendable ([UInt8]) -> Bool) { self.send = send }

    /// Returns whether standard error is connected to the journal: `JOURNAL_STREAM` names its device and inode (systemd.exec(5)).
    package static func isConnected(_ variable: String?, descriptor: Int32 = STDERR_FILENO) -> Bool {
        var status = stat()
        guard let variable, fstat(descriptor, &status) == 0 else { return false }
        return variable == "\(status.st_dev):\(status.st_ino)"
    }

    /// See `LogHandler`.
    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// See `LogHandler`.
    package func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { _, new in new }.mapValues { "\($0)" }
        let bytes = Self.datagram(event.level, event.message.description, all)
        if send(bytes) { return }
        // systemd reads the priority from the prefix (sd-daemon(3)).
        let line = "<\(Self.priority(event.level))>\(Self.text(event.message.description, all))\n"
        _ = Array(line.utf8).withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// The message with its values: `a scan failed (error: no route; repository: /srv/kit.git)`.
    static func text(_ message: String, _ values: [String: String]) -> String {
        guard !values.isEmpty else { return message }
        return message + " ("
            + values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: "; ") + ")"
    }

    /// Returns the datagram of a line. Each value also has a field `MARTLET_KEY`.
    package static func datagram(_ level: Logger.Level, _ message: String, _ values: [String: String]) -> [UInt8] {
        var bytes: [UInt8] = []
        func add(_ name: String, _ value: String) {
            let value = Array(value.utf8.prefix(maximumValue))
            // The form with a length takes any bytes.
            bytes += Array(name.utf8) + [0x0A]
            bytes += withUnsafeBytes(of: UInt64(value.count).littleEndian) { Array($0) }
            bytes += value + [0x0A]
        }
        add("MESSAGE", text(message, values))
        add("PRIORITY", "\(priority(level))")
        add("SYSLOG_IDENTIFIER", "martlet")
        for (key, value) in values.sorted(by: { $0.key < $1.key }).prefix(maximumFields) {
            add(field(key), value)
        }
        return bytes
    }

    /// Returns the name of a value's field: upper-case ASCII letters, digits and `_`, at most 64 (journald's rule for names).
    static func field(_ key: String) -> String {
        let name = key.uppercased().utf8.map { byte -> UInt8 in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) ? byte : UInt8(ascii: "_")
        }
        return "MARTLET_" + String(decoding: name.prefix(56), as: UTF8.self)
    }

    /// Returns the priority of syslog(3).
    static func priority(_ level: Logger.Level) -> Int {
        switch level {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}

/// The connection to journald.
package final class JournalSocket: Sendable {
    private let descriptor: Int32

    /// - Parameter path: The path of the socket.
    /// - Returns: `nil` if nothing listens there.
    package init?(path: String = JournalLogHandler.socketPath) {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            close(descriptor)
            return nil
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, length) }
        }
        guard result == 0 else {
            close(descriptor)
            return nil
        }
    }

    deinit { close(descriptor) }

    /// Sends a datagram without waiting.
    /// - Returns: Whether journald's queue accepted it.
    package func send(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes {
            Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        } == bytes.count
    }
}
