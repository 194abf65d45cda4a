import Glibc
import Testing

/// A listening socket of the host without a file: an abstract unix socket (unix(7)).
struct AbstractSocket {
    private let descriptor: Int32

    init(_ name: String) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.dropFirst().copyBytes(from: name.utf8) }
        let size = socklen_t(MemoryLayout<sa_family_t>.size + 1 + name.utf8.count)
        let isListening = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && listen(descriptor, 8) == 0
            }
        }
        try #require(isListening, "no abstract socket: \(String(cString: strerror(errno)))")
        self.descriptor = descriptor
    }

    func close() { Glibc.close(descriptor) }
}
