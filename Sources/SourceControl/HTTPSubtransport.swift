import CLibCurl
import CLibGit2
import Glibc

/// The way to one server over http, with one connection that its requests share; on the lane's thread alone.
final class HTTPSubtransport {
    let control: NetworkControl
    /// One easy handle, used anew for each request.
    let handle: UnsafeMutableRawPointer
    let multi: UnsafeMutableRawPointer
    /// Where libcurl writes why it failed.
    let errorText: UnsafeMutablePointer<CChar>
    /// What the server has asked for, for the requests that follow.
    private(set) var account: (user: String, password: String)?
    /// Addresses that were not connected to since they are no public ones, and those that were.
    private var (refused, opened) = (0, 0)
    var hasRefusedAll: Bool { refused > 0 && opened == 0 }
    private let owner: UnsafeMutablePointer<git_transport>

    /// Nothing when memory is short.
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
        // Closes what is still open, by `close` below.
        curl_easy_cleanup(handle)
        curl_multi_cleanup(multi)
        errorText.deallocate()
    }

    // MARK: Credentials

    /// Asks the operation's own for them. They are given once; a server that asks again is told so by a failure.
    func askForCredentials(_ url: RemoteURL) throws(HTTPFailure) {
        account = nil
        var given: UnsafeMutablePointer<git_credential>?
        let methods = Int32(bitPattern: GIT_CREDENTIAL_USERPASS_PLAINTEXT.rawValue)
        let result = git_transport_smart_credentials(&given, owner, url.user, methods)
        defer { git_credential_free(given) }
        guard result == 0 else { throw HTTPFailure(ofLibGit2: result) }
        guard let given, given.pointee.credtype == GIT_CREDENTIAL_USERPASS_PLAINTEXT else {
            throw HTTPFailure(.credentialsMissing, "the server asks who we are")
        }
        let plain = UnsafeMutableRawPointer(given).assumingMemoryBound(to: git_credential_userpass_plaintext.self)
        account = (String(cString: plain.pointee.username), String(cString: plain.pointee.password))
    }

    func forgetCredentials() { account = nil }

    // MARK: Sockets

    /// Lets libcurl have its sockets from us, so that each address is judged as it is connected to, and the watch has them all.
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

    /// - Returns: -1 when it must not be connected to; libcurl goes on to the next address.
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
