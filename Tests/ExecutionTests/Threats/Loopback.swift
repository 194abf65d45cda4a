import Glibc

/// A listening socket of the host.
struct Loopback {
    struct Refused: Error, CustomStringConvertible { let description: String }

    let descriptor: Int32
    let port: UInt16

    /// On 127.0.0.1, any port.
    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && listen(descriptor, 8) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isListening else { throw Refused(description: "no socket on the loopback: \(errno)") }
        port = UInt16(bigEndian: address.sin_port)
    }

    /// An abstract unix socket (unix(7)).
    init(abstract name: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        port = 0
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.dropFirst().copyBytes(from: name.utf8) }
        let size = socklen_t(MemoryLayout<sa_family_t>.size + 1 + name.utf8.count)
        let descriptor = descriptor
        let isListening = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && listen(descriptor, 8) == 0
            }
        }
        guard isListening else { throw Refused(description: "no abstract socket: \(errno)") }
    }

    func close() { Glibc.close(descriptor) }
}
