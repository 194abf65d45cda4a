import CLibCurl
import CLibGit2
import Glibc

/// The connection to one server over http, which its requests share. It is used on the queue's thread alone.
final class HTTPSubtransport {
    let control: NetworkControl
    /// The easy handle, which is used again for each request.
    let handle: UnsafeMutableRawPointer
    let multi: UnsafeMutableRawPointer
    /// The buffer for libcurl's error messages.
    let errorText: UnsafeMutablePointer<CChar>
    /// The account that the server asked for, for later requests; `nil` if it did not ask.
    private(set) var account: (user: String, password: String)?
    /// The number of addresses that were refused because they are not public, and the number of those that were tried.
    private var (refused, opened) = (0, 0)
    var hasRefusedAll: Bool { refused > 0 && opened == 0 }
    private let owner: UnsafeMutablePointer<git_transport>

    /// Returns `nil` if memory is short.
    init?(owner: UnsafeMutablePointer<git_transport>, control: NetworkControl) {
        guard let handle = curl_easy_init() else { return nil }
        guard let multi = curl_multi_init() else {
            curl_easy_cleanup(handle)
            return nil
        }
        (self.owner, self.control, self.handle, self.multi) = (owner, control, handle, multi)
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        // This closes the open sockets through `close` below.
        curl_easy_cleanup(handle)
        curl_multi_cleanup(multi)
        errorText.deallocate()
    }

    // MARK: Credentials

    /// Gets the operation's credentials. They are given once; if the server asks again, the request fails.
    func askForCredentials(_ url: RemoteURL) throws(HTTPFailure) {
        account = nil
        var given: UnsafeMutablePointer<git_credential>?
        let methods = Int32(bitPattern: GIT_CREDENTIAL_USERPASS_PLAINTEXT.rawValue)
        let result = git_transport_smart_credentials(&given, owner, url.user, methods)
        defer { git_credential_free(given) }
        guard result == 0 else { throw HTTPFailure(ofLibGit2: result) }
        guard let given, given.pointee.credtype == GIT_CREDENTIAL_USERPASS_PLAINTEXT else {
            throw HTTPFailure(.credentialsMissing, "the server requires credentials")
        }
        let plain = UnsafeMutableRawPointer(given).assumingMemoryBound(to: git_credential_userpass_plaintext.self)
        account = (String(cString: plain.pointee.username), String(cString: plain.pointee.password))
    }

    func forgetCredentials() { account = nil }

    // MARK: Sockets

    /// Makes libcurl open and close its sockets through this object. So each address is checked before it is connected to, and the watch knows all
    /// sockets.
    func setSocketCallbacks() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        clibcurl_set_open_socket_callback(handle) { context, _, address in
            guard let context, let address else { return -1 }
            return Unmanaged<HTTPSubtransport>.fromOpaque(context).takeUnretainedValue().open(address)
        }
        clibcurl_set_pointer(handle, CURLOPT_OPENSOCKETDATA, context)
        clibcurl_set_close_socket_callback(handle) { context, socket in
            guard let context else { return Glibc.close(socket) }
            Unmanaged<HTTPSubtransport>.fromOpaque(context).takeUnretainedValue().control.close(socket)
            return 0
        }
        clibcurl_set_pointer(handle, CURLOPT_CLOSESOCKETDATA, context)
    }

    /// Opens a socket.
    /// - Returns: -1 if the address must not be connected to. libcurl then tries the next address.
    private func open(_ address: UnsafeMutablePointer<curl_sockaddr>) -> Int32 {
        if control.limits.isPublicOnly, !PublicAddress.contains(clibcurl_socket_address(address)) {
            refused += 1
            return -1
        }
        let kind = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let number = socket(address.pointee.family, kind, address.pointee.protocol)
        guard number >= 0 else { return -1 }
        guard control.add(number, isPulled: true) else {
            control.close(number)
            return -1
        }
        opened += 1
        return number
    }
}
