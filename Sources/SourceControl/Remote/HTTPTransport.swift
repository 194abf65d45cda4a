import CLibCurl
import CLibGit2

/// The transport for http and https by libcurl. It replaces that of libgit2 1.5.1, which can crash the process.
///
/// A redirect without a query makes libgit2 read a null pointer. It also accepts TLS 1.0 and 1.1, follows redirects to other ports, and supports no
/// proxy for plain http. This type is the boundary to C: it contains the function tables that libgit2 calls, each with its object.
enum HTTPTransport {
    /// Initializes libcurl once for the process, which is thread-safe since libcurl 7.84 (curl_global_init(3)).
    static let isLibraryReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

    static func register() throws(SourceControlError) {
        guard isLibraryReady else {
            throw SourceControlError(
                code: .other, operation: "setting up libcurl", message: "it could not be initialized; is memory short?")
        }
        // libgit2 keeps the pointer for the lifetime of the process.
        let definition = UnsafeMutablePointer<git_smart_subtransport_definition>.allocate(capacity: 1)
        definition.initialize(to: git_smart_subtransport_definition())
        definition.pointee.callback = { out, owner, _ in HTTPTransport.make(out, owner) }
        definition.pointee.rpc = 1
        for scheme in ["http", "https"] {
            try git("setting up libgit2's connections") {
                git_transport_register(scheme, { git_transport_smart($0, $1, $2) }, definition)
            }
        }
    }

    // MARK: The way to a server

    private typealias Subtransport = UnsafeMutablePointer<git_smart_subtransport>

    private static func make(_ out: UnsafeMutablePointer<Subtransport?>?, _ owner: UnsafeMutablePointer<git_transport>?)
        -> Int32
    {
        guard let out, let owner, let control = NetworkControl.current else {
            return HTTPFailure(nil, "a connection outside of an operation").set()
        }
        guard let object = HTTPSubtransport(owner: owner, control: control) else {
            return HTTPFailure(nil, "no memory for a connection").set()
        }
        let made = UnsafeMutablePointer<clibgit2_subtransport>.allocate(capacity: 1)
        made.initialize(to: clibgit2_subtransport())
        made.pointee.object = Unmanaged.passRetained(object).toOpaque()
        made.pointee.parent.action = { out, subtransport, url, service in
            guard let out, let subtransport, let url else { return -1 }
            return HTTPTransport.begin(out, subtransport, String(cString: url), service)
        }
        made.pointee.parent.close = { subtransport in
            subtransport.map { HTTPTransport.object($0).forgetCredentials() }
            return 0
        }
        made.pointee.parent.free = { subtransport in
            guard let subtransport else { return }
            let whole = HTTPTransport.whole(subtransport)
            if let object = whole.pointee.object { Unmanaged<HTTPSubtransport>.fromOpaque(object).release() }
            whole.deinitialize(count: 1)
            whole.deallocate()
        }
        // It is the first member of the structure.
        out.pointee = UnsafeMutableRawPointer(made).assumingMemoryBound(to: git_smart_subtransport.self)
        return 0
    }

    private static func whole(_ subtransport: Subtransport) -> UnsafeMutablePointer<clibgit2_subtransport> {
        UnsafeMutableRawPointer(subtransport).assumingMemoryBound(to: clibgit2_subtransport.self)
    }

    private static func object(_ subtransport: Subtransport) -> HTTPSubtransport {
        Unmanaged<HTTPSubtransport>.fromOpaque(whole(subtransport).pointee.object).takeUnretainedValue()
    }

    // MARK: One request

    private typealias Stream = UnsafeMutablePointer<git_smart_subtransport_stream>

    private static func begin(
        _ out: UnsafeMutablePointer<Stream?>, _ subtransport: Subtransport, _ url: String,
        _ service: git_smart_service_t
    ) -> Int32 {
        let parent = object(subtransport)
        return attempt(parent.control) { () throws(HTTPFailure) in
            let object = HTTPStream(try HTTPRequest(url, service), by: parent)
            let made = UnsafeMutablePointer<clibgit2_subtransport_stream>.allocate(capacity: 1)
            made.initialize(to: clibgit2_subtransport_stream())
            made.pointee.object = Unmanaged.passRetained(object).toOpaque()
            made.pointee.parent.subtransport = subtransport
            made.pointee.parent.read = { stream, buffer, size, count in
                guard let stream, let buffer, let count else { return -1 }
                count.pointee = 0
                let object = HTTPTransport.object(stream)
                return HTTPTransport.attempt(object.control) { () throws(HTTPFailure) in
                    count.pointee = try object.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: size))
                }
            }
            made.pointee.parent.write = { stream, bytes, count in
                guard let stream, let bytes else { return -1 }
                let object = HTTPTransport.object(stream)
                return HTTPTransport.attempt(object.control) { () throws(HTTPFailure) in
                    try object.write(UnsafeRawBufferPointer(start: bytes, count: count))
                }
            }
            made.pointee.parent.free = { stream in
                guard let stream else { return }
                let whole = HTTPTransport.whole(stream)
                if let object = whole.pointee.object {
                    let object = Unmanaged<HTTPStream>.fromOpaque(object).takeRetainedValue()
                    object.end()
                }
                whole.deinitialize(count: 1)
                whole.deallocate()
            }
            out.pointee = UnsafeMutableRawPointer(made).assumingMemoryBound(to: git_smart_subtransport_stream.self)
        }
    }

    private static func whole(_ stream: Stream) -> UnsafeMutablePointer<clibgit2_subtransport_stream> {
        UnsafeMutableRawPointer(stream).assumingMemoryBound(to: clibgit2_subtransport_stream.self)
    }

    private static func object(_ stream: Stream) -> HTTPStream {
        Unmanaged<HTTPStream>.fromOpaque(whole(stream).pointee.object).takeUnretainedValue()
    }

    private static func attempt(_ control: NetworkControl, _ body: () throws(HTTPFailure) -> Void) -> Int32 {
        do throws(HTTPFailure) {
            try body()
            return 0
        } catch {
            if let code = error.code, control.failure == nil { control.record(code, retryAfter: error.retryAfter) }
            return error.set()
        }
    }
}
