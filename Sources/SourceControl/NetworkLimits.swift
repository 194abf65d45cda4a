/// How long and how much a git server may keep us.
///
/// libgit2 has time-outs of its own only since 1.7; before, a silent server holds a thread for ever. So connections are
/// opened by us (`SocketStream`, `HTTPSubtransport`), and `NetworkWatch` shuts them down when one of these is over.
package struct NetworkLimits: Sendable, Hashable {
    /// For one TCP connection, per address tried; over http for all of them together, with the name's look-up, TLS and a proxy.
    package var connect: Duration = .seconds(30)
    /// Without a byte from the server. git's own servers send a keep-alive every 5 s while they pack
    /// (`uploadpack.keepAlive`, git-config(1)).
    package var silence: Duration = .seconds(60)
    /// For listing the refs.
    package var look: Duration = .seconds(120)
    /// For one whole fetch.
    package var fetch: Duration = .seconds(3600)
    /// For what a look brings, from its first request: what takes longer is left to the fetch.
    package var bringing: Duration = .seconds(10)
    /// Bytes that a look brings; a larger pack is left to the fetch.
    package var broughtBytes: Int64 = 64 << 20
    /// How often the watch looks at the limits above.
    package var interval: Duration = .milliseconds(250)
    /// Refs listed by a server. 200,000 are about 40 MB of names and ids.
    package var refs = 200_000
    /// The most bytes of such a list, and of a server's messages before a pack; libgit2 needs about twice as much memory. 200,000 refs with names
    /// of 250 bytes are 60 MB.
    package var listBytes: Int64 = 64 << 20
    /// The most lines of such a list, including refs that do not count: libgit2 needs some 200 bytes of memory for each, however short it is.
    package var listLines = 500_000
    /// Bytes received by one fetch.
    package var bytes: Int64 = 20 << 30
    /// Objects in one pack.
    package var objects = 50_000_000

    /// Whether connections to loopback, private, link-local and other special addresses are refused.
    var isPublicOnly = false
    /// Address space of each process of the `git` command, in bytes: packs are mapped 1 GiB at a time. A header that claims
    /// 2^31 objects needs 150 GB and ends it at once.
    static let programMemory: Int64 = 8 << 30

    /// The same as `programMemory`, for a process that only lists refs. It has them all in memory before it prints the first.
    static let listMemory: Int64 = 320 << 20

    package init() {}
}

extension Duration {
    var wholeMilliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
