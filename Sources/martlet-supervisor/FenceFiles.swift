import Glibc
import JobProtocol

/// The small files of a fence's /etc: what programs need of the host's, and those that are written for a step, so that they
/// say who and where it is and nothing of the host.
///
/// They are copied into the root in memory. Mounting them costs more: bubblewrap reads the whole table of mounts for each.
struct FenceFiles {
    /// Where libraries are, what the time is, how names are found. Nothing that names users, keys or machines.
    private static let copied = [
        "ld.so.cache", "localtime", "nsswitch.conf", "protocols", "services", "ssl/openssl.cnf", "maven/m2.conf",
        "maven/logging/simplelogger.properties",
    ]
    /// The most files: passwd, group and one that says how names are found, and those copied.
    static let countLimit = 3 + copied.count
    /// Of one file. The largest, ld.so.cache, has some 100 KB.
    private static let sizeLimit = 4 << 20

    /// Bubblewrap's options.
    let options: [String]
    /// What stands in them, in the order of the descriptors from `FenceProcess.firstFileDescriptor` on.
    let texts: [[UInt8]]

    /// - Parameters:
    ///   - network: What the step has, which says how names are found.
    ///   - isImage: The root is an image's, which has its own; only what is written for the step is laid over.
    init(network: Network, home: String, isImage: Bool) {
        var files = [
            (
                "/etc/passwd",
                Array(
                    """
                    root:x:0:0:root:/root:/usr/sbin/nologin
                    martlet:x:\(Fence.user):\(Fence.user):martlet:\(home):/bin/sh
                    nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin

                    """.utf8)
            ), ("/etc/group", Array("root:x:0:\nmartlet:x:\(Fence.user):\nnogroup:x:65534:\n".utf8)),
        ]
        var options: [String] = []
        switch network {
        case .none: files.append(("/etc/hosts", Array("127.0.0.1 localhost\n::1 localhost ip6-localhost\n".utf8)))
        case .shared: for path in ["/etc/hosts", "/etc/resolv.conf"] { options += ["--ro-bind-try", path, path] }
        case .own:
            options += ["--ro-bind-try", "/etc/hosts", "/etc/hosts"]
            let host = SmallFile.read("/etc/resolv.conf", limit: Self.sizeLimit) ?? []
            let own = Resolvers(host: String(decoding: host, as: UTF8.self), own: UserNetwork.nameServer)
            files.append(("/etc/resolv.conf", Array(own.text.utf8)))
        }
        if !isImage {
            files += Self.copied.compactMap { name in
                SmallFile.read("/etc/" + name, limit: Self.sizeLimit).map { ("/etc/" + name, $0) }
            }
        }
        for (index, (path, _)) in files.enumerated() {
            let descriptor = "\(FenceProcess.firstFileDescriptor + Int32(index))"
            options += ["--perms", "0644", isImage ? "--ro-bind-data" : "--file", descriptor, path]
        }
        self.options = options
        texts = files.map(\.1)
    }

    /// What network a fenced step has.
    enum Network {
        case none
        /// The host's.
        case shared
        /// A `UserNetwork`.
        case own
    }

    /// Where files are laid over an image's own.
    static let places = ["/etc/passwd", "/etc/group", "/etc/hosts", "/etc/resolv.conf"]
}
