// The compiler attributes the declarations of <sys/socket.h> to the first of these modules that it reads.
import CLibCurl
import CLibGit2
import Glibc

/// The TCP connections of libgit2, which the service opens so that they have time-outs and the watch can shut them down.
///
/// libgit2 1.5.1 has no `GIT_OPT_SET_SERVER_TIMEOUT` (1.7). Its git and ssh transports open their sockets through the registry of
/// `git_stream_register`. `HTTPTransport` is for http and https.
enum SocketStream {
    static func register() throws(SourceControlError) {
        var registration = git_stream_registration()
        registration.version = GIT_STREAM_VERSION
        registration.`init` = { out, host, port in SocketStream.make(out, host, port) }
        try git("setting up libgit2's connections") { git_stream_register(GIT_STREAM_STANDARD, &registration) }
    }

    private typealias Stream = UnsafeMutablePointer<git_stream>

    private static func socketStream(_ stream: Stream) -> UnsafeMutablePointer<clibgit2_socket_stream> {
        // The stream is the structure's first member.
        UnsafeMutableRawPointer(stream).assumingMemoryBound(to: clibgit2_socket_stream.self)
    }

    private static func make(
        _ out: UnsafeMutablePointer<UnsafeMutablePointer<git_stream>?>?, _ host: UnsafePointer<CChar>?,
        _ port: UnsafePointer<CChar>?
    ) -> Int32 {
        guard let out, let host, let port else { return fail("no host") }
        let made = UnsafeMutablePointer<clibgit2_socket_stream>.allocate(capacity: 1)
        made.initialize(to: clibgit2_socket_stream())
        made.pointee.host = strdup(host)
        made.pointee.port = strdup(port)
        made.pointee.socket = -1
        made.pointee.parent.version = GIT_STREAM_VERSION
        made.pointee.parent.connect = { $0.map { SocketStream.connect($0) } ?? -1 }
        made.pointee.parent.read = { stream, buffer, count in
            stream.map { SocketStream.read($0, buffer, count) } ?? -1
        }
        made.pointee.parent.write = { stream, buffer, count, _ in
            stream.map { SocketStream.write($0, buffer, count) } ?? -1
        }
        made.pointee.parent.close = { $0.map { SocketStream.close($0) } ?? -1 }
        made.pointee.parent.free = { stream in
            guard let stream else { return }
            _ = SocketStream.close(stream)
            let whole = SocketStream.socketStream(stream)
            Glibc.free(whole.pointee.host)
            Glibc.free(whole.pointee.port)
            whole.deinitialize(count: 1)
            whole.deallocate()
        }
        out.pointee = UnsafeMutableRawPointer(made).assumingMemoryBound(to: git_stream.self)
        return 0
    }

    private static func connect(_ stream: Stream) -> Int32 {
        let whole = socketStream(stream)
        guard let host = whole.pointee.host, let port = whole.pointee.port else { return fail("no host") }
        guard let control = NetworkControl.current else { return fail("a connection outside of an operation") }
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(host, port, &hints, &found)
        guard result == 0 else {
            return fail(
                "failed to resolve address for \(String(cString: host)): \(String(cString: gai_strerror(result)))")
        }
        defer { freeaddrinfo(found) }
        var reason = "no address"
        var next = found
        while let address = next {
            next = address.pointee.ai_next
            // This checks the address to which the connection is made, because a name may resolve to another one a moment later.
            if control.limits.isPublicOnly, !PublicAddress.contains(address.pointee.ai_addr) {
                control.record(.invalidURL)
                reason = "it has no public address"
                continue
            }
            let kind = address.pointee.ai_socktype | Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
            let number = socket(address.pointee.ai_family, kind, address.pointee.ai_protocol)
            guard number >= 0 else {
                reason = String(cString: strerror(errno))
                continue
            }
            guard control.add(number) else {
                control.close(number)
                return fail("stopped")
            }
            if let failure = establish(number, to: address.pointee, control) {
                reason = failure
                control.close(number)
                continue
            }
            whole.pointee.socket = number
            return 0
        }
        return fail("failed to connect to \(String(cString: host)): \(reason)")
    }

    /// Waits for the connection, and makes the socket blocking, as libgit2 expects it.
    /// - Returns: Why the connection failed; `nil` on success.
    private static func establish(_ number: Int32, to address: addrinfo, _ control: NetworkControl) -> String? {
        if Glibc.connect(number, address.ai_addr, address.ai_addrlen) != 0 {
            guard errno == EINPROGRESS else { return String(cString: strerror(errno)) }
            var waiting = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
            let limit = Int32(clamping: control.limits.connect.wholeMilliseconds)
            var result: Int32
            repeat { result = poll(&waiting, 1, limit) } while result < 0 && errno == EINTR
            guard result != 0 else { return "no answer within \(control.limits.connect)" }
            var failure: Int32 = 0
            var length = socklen_t(MemoryLayout<Int32>.size)
            guard getsockopt(number, SOL_SOCKET, SO_ERROR, &failure, &length) == 0, failure == 0 else {
                return String(cString: strerror(failure))
            }
        }
        guard clibgit2_set_blocking(number) == 0 else { return String(cString: strerror(errno)) }
        return nil
    }

    private static func read(_ stream: Stream, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
        while true {
            let result = recv(socketStream(stream).pointee.socket, buffer, count, 0)
            if result >= 0 {
                NetworkControl.current?.received(UnsafeRawBufferPointer(start: buffer, count: result))
                return result
            }
            if errno != EINTR { return Int(fail("receiving failed: \(String(cString: strerror(errno)))")) }
        }
    }

    private static func write(_ stream: Stream, _ buffer: UnsafePointer<CChar>?, _ count: Int) -> Int {
        while true {
            // Without MSG_NOSIGNAL a server that closes the connection would end the process.
            let result = send(socketStream(stream).pointee.socket, buffer, count, Int32(MSG_NOSIGNAL))
            if result >= 0 { return result }
            if errno != EINTR { return Int(fail("sending failed: \(String(cString: strerror(errno)))")) }
        }
    }

    private static func close(_ stream: Stream) -> Int32 {
        let whole = socketStream(stream)
        guard whole.pointee.socket >= 0 else { return 0 }
        if let control = NetworkControl.current {
            control.close(whole.pointee.socket)
        } else {
            Glibc.close(whole.pointee.socket)
        }
        whole.pointee.socket = -1
        return 0
    }

    private static func fail(_ message: String) -> Int32 {
        git_error_set_str(Int32(GIT_ERROR_NET.rawValue), message)
        return -1
    }
}
