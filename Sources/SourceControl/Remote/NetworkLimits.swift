/// The limits for the time and the data of a git server.
///
/// libgit2 has time-outs only since 1.7; before, a silent server blocks a thread forever. So the service opens connections itself (`SocketStream`,
/// `HTTPSubtransport`), and `NetworkWatch` shuts them down when a limit is exceeded.
package struct NetworkLimits: Sendable, Hashable {
    /// The limit for one TCP connection attempt. Over http, one limit covers all addresses, name lookup, TLS and proxy.
    package var connect: Duration = .seconds(30)
    /// The time without a byte from the server. git's own servers send a keep-alive every 5 s while they pack (`uploadpack.keepAlive`,
    /// git-config(1)).
    package var silence: Duration = .seconds(60)
    /// The time for listing the refs.
    package var scan: Duration = .seconds(120)
    /// The time for one whole fetch.
    package var fetch: Duration = .seconds(3600)
    /// The limit for fetching commits during a scan. The integration's own fetch gets the rest.
    package var fetching: Duration = .seconds(10)
    /// The most bytes that a scan fetches. A larger pack is left to the fetch.
    package var fetchedBytes: Int64 = 64 << 20
    /// How often the watch checks the limits above.
    package var interval: Duration = .milliseconds(250)
    /// The most refs in a server's list. 200,000 are about 40 MB of names and ids.
    package var refs = 200_000
    /// The most bytes of such a list, and of a server's messages before a pack. libgit2 needs about twice as much memory. 200,000 refs with names of
    /// 250 bytes take 60 MB.
    package var listBytes: Int64 = 64 << 20
    /// The most lines of such a list, including refs that are ignored. libgit2 needs about 200 bytes of memory for each, however short it is.
    package var listLines = 500_000
    /// The most bytes that one fetch receives.
    package var bytes: Int64 = 20 << 30
    /// The most objects in one pack.
    package var objects = 50_000_000

    /// Whether connections to loopback, private, link-local and other special addresses are refused.
    var isPublicOnly = false
    /// The address space of each process of the `git` command, in bytes. Packs are mapped 1 GiB at a time. A pack whose
    /// header claims 2^31 objects would need 150 GB; under this limit git fails at once.
    static let programMemory: Int64 = 8 << 30

    /// The same as `programMemory`, for a process that only lists refs. It has all of them in memory before it prints the first.
    static let listMemory: Int64 = 320 << 20

    package init() {}
}

extension Duration {
    var wholeMilliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
