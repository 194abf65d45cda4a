import BotSupport
import Glibc

/// A port of the loopback that accepts connections into its backlog and never answers.
final class SilentServer: Sendable {
    let port: Int
    private let descriptor: Int32

    init() throws {
        descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let number = descriptor
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(number, generic, length) == 0 && listen(number, 16) == 0
                    && getsockname(number, generic, &length) == 0
            }
        }
        guard isListening else { throw BotFailure("no port of the loopback can be bound") }
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    /// Closes it; whoever waits for an answer gets none.
    func close() { Glibc.close(descriptor) }
}
