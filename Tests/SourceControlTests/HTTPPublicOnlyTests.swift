import Basics
import CLibGit2
import Glibc
import Model
import TestSupport
import Testing

@testable import SourceControl

/// The transport for a submodule on another host, which accepts only public addresses. It is tried in a separate network that has one.
@Suite(
    .enabled(if: geteuid() == 0 && TestTools.find("ip") != nil, "needs root and iproute2, for a network of its own"))
struct HTTPPublicOnlyTests {
    /// No test leaves this machine: the network has only this address.
    private static let address = "11.0.0.1"

    /// Moves the calling thread, and its children, into a network with a loopback and the address.
    private static func enterNetwork() -> Bool {
        // Swift's Glibc does not have unshare(2). CLONE_NEWNET.
        typealias Unshare = @convention(c) (Int32) -> Int32
        guard let symbol = dlsym(nil, "unshare"),
            unsafeBitCast(symbol, to: Unshare.self)(0x4000_0000) == 0
        else { return false }
        return system("PATH=$PATH:/usr/sbin:/sbin; ip link set lo up && ip address add \(address)/32 dev lo") == 0
    }

    /// Returns a socket that listens at all addresses of the calling thread's network.
    private static func listening() -> (socket: Int32, port: Int) {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, length) | listen(number, 16) | getsockname(number, $0, &length)
            }
        }
        return (number, Int(UInt16(bigEndian: address.sin_port)))
    }

    /// Looks on this thread.
    /// - Returns: The refs, or the error.
    private static func scan(_ url: String, in root: String) throws -> Result<[RefName], SourceControlError> {
        let mirrors = Mirrors(directory: root + "/mirrors", configuration: GitConfiguration(files: []))
        let mirror = mirrors.mirror(
            of: try RemoteURL(url, isInsecureAllowed: true), credentials: nil, kind: .publicOnly)
        do throws(SourceControlError) {
            let control = NetworkControl(limits: mirror.limits)
            return .success(
                try control.run { () throws(SourceControlError) in
                    let repository = try mirror.store.open()
                    return try mirror.session()(control).run(in: repository.pointer, operation: "look at") {
                        Array($0.list.refs.keys)
                    }
                })
        } catch {
            return .failure(error)
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "Without git, http and https use the environment's proxy, whose password is shown nowhere; addresses in commits use none"
        ),
        .proves(
            .sourceControl,
            "A submodule's address may have no options, helpers and paths, and name another host only by https, without credentials, at a public address (G1, G2, G6)"
        ), arguments: ["", "?service=git-upload-pack"])
    func testThatARedirectEndsTheScanAndNotTheProcess(_ query: String) async throws {
        try await withTemporaryDirectory { directory in
            let root = directory.path
            await #expect(processExitsWith: .success) { [root = root as String, query = query as String] in
                // given
                guard Self.enterNetwork() else { exit(3) }
                let (socket, port) = Self.listening()
                // A proxy connects to any host, so it must not be used.
                setenv("http_proxy", "http://\(Self.address):\(port)", 1)
                let moved =
                    "HTTP/1.1 301 Moved\r\nLocation: http://\(Self.address):\(port)/new/info/refs\(query)\r\n"
                    + "Content-Length: 0\r\nConnection: close\r\n\r\n"
                let list = SmartHTTPAnswer.answer(
                    SmartHTTPAnswer.listType,
                    SmartHTTPAnswer.list(try #require(CommitID("00000000000000000000000000000000000000aa"))))
                let heads = Locked<[String]>([])
                let server = SerialQueue(label: "server")
                async let served: Void = server.run {
                    while case let connection = accept(socket, nil, nil), connection >= 0 {
                        let head = ScriptedHTTPServer.request(from: connection) ?? ""
                        heads.withLock { $0.append(head) }
                        let bytes = head.contains(" /moved/") ? Array(moved.utf8) : list
                        _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
                        close(connection)
                    }
                }

                // when: everything is on this thread, which alone is in that network
                let redirected = try Self.scan("http://\(Self.address):\(port)/moved/x", in: root)
                let open = try Self.scan("http://\(Self.address):\(port)/x", in: root)
                let own = try ["127.0.0.1:\(port)", "10.0.0.1"].map { try Self.scan("http://\($0)/x", in: root) }
                shutdown(socket, Int32(SHUT_RDWR))
                await served

                // then
                func code(_ result: Result<[RefName], SourceControlError>) -> SourceControlError.Code? {
                    if case .failure(let error) = result { error.code } else { nil }
                }
                #expect(code(redirected) == .redirected, "\(redirected)")
                #expect(try open.get() == [RefName(branch: "main")])
                #expect(own.map(code) == [.invalidURL, .invalidURL], "\(own)")
                #expect(heads.value.map { $0.prefix(5) } == ["GET /", "GET /"])
            }
        }
    }
}
