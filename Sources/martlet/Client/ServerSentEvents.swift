/// Parses a stream of bytes into server-sent events (WHATWG HTML, section 9.2.6). Comments and `retry` are ignored.
struct ServerSentEvents {
    struct Event: Equatable {
        var name = "message"
        var data = ""
    }

    /// The longest accepted line, in bytes. The daemon's events are smaller than 400 KiB.
    static let maximumLineBytes = 4 << 20

    private var line: [UInt8] = []
    private var event = Event()
    private var hasData = false

    /// Parses a piece and returns the events that end in it.
    /// - Throws: `Failure` for a line that is too long.
    mutating func add(_ piece: [UInt8]) throws -> [Event] {
        var events: [Event] = []
        for byte in piece {
            if byte == UInt8(ascii: "\n") {
                if let event = endLine() { events.append(event) }
                line.removeAll(keepingCapacity: true)
            } else if byte != UInt8(ascii: "\r") {
                line.append(byte)
            }
        }
        guard line.count <= Self.maximumLineBytes else {
            throw Failure(
                .software,
                "the daemon's events cannot be read: a line is longer than \(Self.maximumLineBytes) bytes; use a martlet of the daemon's "
                    + "version")
        }
        return events
    }

    private mutating func endLine() -> Event? {
        guard !line.isEmpty else {
            defer { (event, hasData) = (Event(), false) }
            return hasData ? event : nil
        }
        let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty else { return nil }
        var value = parts[1]
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        let text = String(decoding: value, as: UTF8.self)
        switch String(decoding: parts[0], as: UTF8.self) {
        case "event": event.name = text
        case "data":
            event.data += (hasData ? "\n" : "") + text
            hasData = true
        default: break
        }
        return nil
    }
}
