import Glibc
import Transfer

/// An HTTP request: the part of RFC 9112 that our client uses.
struct ForgeRequest {
    var method: String
    /// The path with its query.
    var path: String
    var headers = TransferHeaders()
    var body: [UInt8] = []

    /// Reads a request; `nil` if the connection ends before its end, or if it has more than 1 MiB.
    init?(reading connection: Int32) {
        var bytes: [UInt8] = []
        var end: Int?
        func more() -> Bool {
            var buffer = [UInt8](repeating: 0, count: 16 << 10)
            let count = read(connection, &buffer, buffer.count)
            guard count > 0, bytes.count < 1 << 20 else { return false }
            bytes += buffer[..<count]
            return true
        }
        while end == nil {
            guard more() else { return nil }
            end = bytes.indices.first { bytes[$0...].starts(with: [13, 10, 13, 10]) }
        }
        guard let end else { return nil }
        let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count == 3 else { return nil }
        (method, path) = (String(words[0]), String(words[1]))
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            headers.append(String(line[..<colon]), String(value))
        }
        let length = headers["Content-Length"].flatMap { Int($0) } ?? 0
        while bytes.count < end + 4 + length {
            guard more() else { return nil }
        }
        body = Array(bytes[(end + 4)..<(end + 4 + length)])
    }
}
