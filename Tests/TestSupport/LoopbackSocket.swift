import Basics
import Glibc
import Synchronization
import Testing

/// A listening socket on the loopback. Its backlog accepts connections, and it never sends a byte.
package final class LoopbackSocket: Sendable {
    package let port: Int
    private let number: Int32
    private let connections = Mutex<[Int32]>([])

    /// Listens at a free port, or at the given one. The caller keeps the object as long as it is needed, as by `defer { socket.stop() }`.
    /// - Parameter place: An IPv4 or IPv6 address of the machine.
    package init(port: Int = 0, at place: String = "127.0.0.1") throws {
        (number, self.port) = try Self.listening(port: port, at: place)
    }

    deinit {
        for connection in connections.withLock({ $0 }) { close(connection) }
        close(number)
    }

    /// Waits until a client connects. The connection stays open as long as this object exists.
    package func connection() async {
        let number = number
        let taken = await SerialQueue(label: "accept").run { accept(number, nil, nil) }
        connections.withLock { $0.append(taken) }
    }

    /// Returns the next connection, which the caller closes; `nil` after `stop`.
    package func accepted() -> Int32? {
        let connection = accept(number, nil, nil)
        return connection < 0 ? nil : connection
    }

    /// Whether a client has connected that was not accepted yet. A client that is refused later counts as well.
    package var hasCaller: Bool {
        var asked = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        return poll(&asked, 1, 0) == 1
    }

    /// Ends `accepted`. No client can connect afterwards.
    package func stop() { shutdown(number, Int32(SHUT_RDWR)) }

    /// Returns a free port that only tests ask for. It is below the ports that the kernel chooses (ip_local_port_range: 32768 and above), because a
    /// connection could take such a port before a server does. It is above those of `FTPServer`'s data and below those of `Service`. No port is
    /// returned twice before all were returned.
    package static func freePort() throws -> Int {
        for _ in ports {
            let port = nextPort.withLock { next in
                next += 1
                return ports.lowerBound + next % ports.count
            }
            if canBind(port) { return port }
        }
        throw ProgramFailure(description: "no port of \(ports) is free")
    }

    private static let ports = 30_000..<32_000
    /// Each process of tests begins at another port.
    private static let nextPort = Mutex(Int(getpid()) * 101)

    private static func canBind(_ port: Int) -> Bool {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(number) }
        var reuses: Int32 = 1
        setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &reuses, socklen_t(MemoryLayout<Int32>.size))
        var address = address(port: port)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    package static func isListening(_ port: Int) -> Bool { isListening(port, at: "127.0.0.1") }

    /// Whether a server listens at a port.
    /// - Parameter address: An IPv4 address of the loopback.
    package static func isListening(_ port: Int, at address: String) -> Bool {
        guard let connection = connected(to: port, at: address) else { return false }
        close(connection)
        return true
    }

    /// Whether a server listens at a Unix socket.
    /// - Parameter path: At most 107 bytes (unix(7)).
    package static func isListening(_ path: String) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(number) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    /// Connects to a port; `nil` if no process listens there. The caller closes the descriptor.
    /// - Parameter isWaiting: If false, the descriptor is returned before the connection is made.
    package static func connected(to port: Int, at host: String = "127.0.0.1", isWaiting: Bool = true) -> Int32? {
        let flags = Int32(SOCK_CLOEXEC.rawValue) | (isWaiting ? 0 : Int32(SOCK_NONBLOCK.rawValue))
        var address = address(port: port)
        guard inet_pton(AF_INET, host, &address.sin_addr) == 1 else { return nil }
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | flags, 0)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result == 0 || !isWaiting && errno == EINPROGRESS { return number }
        close(number)
        return nil
    }

    /// Lets `recv` on a connection fail after twice `TestLimits.wait` without a byte. So a missing answer is a failure, not a hang.
    package static func limitWaiting(of number: Int32) {
        var limit = timeval(tv_sec: Int((TestLimits.wait * 2).components.seconds), tv_usec: 0)
        setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Limits the kernel's buffer of a connection that is not read to 512 KiB instead of up to 6 MiB, so that the sender soon has to wait.
    ///
    /// A smaller buffer has no room for the loopback's segments of up to 64 KiB. The kernel drops them and sends each again after twice the time,
    /// so that the rest of an answer takes minutes.
    package static func limitReceiving(of number: Int32) {
        var size: Int32 = 256 << 10
        setsockopt(number, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func listening(port: Int = 0, at place: String = "127.0.0.1") throws -> (Int32, Int) {
        var hints = addrinfo()
        (hints.ai_flags, hints.ai_socktype) = (AI_NUMERICHOST, Int32(SOCK_STREAM.rawValue))
        var found: UnsafeMutablePointer<addrinfo>?
        try #require(getaddrinfo(place, "\(port)", &hints, &found) == 0, "\(place) is no address")
        defer { freeaddrinfo(found) }
        let address = try #require(found).pointee
        let number = socket(address.ai_family, address.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
        var reuses: Int32 = 1
        setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &reuses, socklen_t(MemoryLayout<Int32>.size))
        // Both IP versions have the port at the same place.
        var bound = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let result = withUnsafeMutablePointer(to: &bound) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(number, address.ai_addr, address.ai_addrlen) | listen(number, 16)
                    | getsockname(number, pointer, &length)
            }
        }
        try #require(result == 0, "no port at \(place)")
        return (number, Int(UInt16(bigEndian: bound.sin6_port)))
    }

    private static func address(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }
}
