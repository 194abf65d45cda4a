import Glibc
import JobProtocol

/// The small files of a sandbox's /etc: those of the host that programs need, and those that are written for a step, so that they name the step's
/// user and host and nothing of the machine.
///
/// They are copied into the root in memory. Mounting them costs more: bubblewrap reads the whole table of mounts for each.
struct SandboxFiles {
    /// Of one file. The largest, ld.so.cache, has some 100 KB.
    private static let sizeLimit = 4 << 20

    /// Bubblewrap's options.
    let options: [String]
    /// What stands in them, in the order of the descriptors from `SandboxProcess.firstFileDescriptor` on.
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
                    martlet:x:\(Sandbox.user):\(Sandbox.user):martlet:\(home):/bin/sh
                    nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin

                    """.utf8)
            ), ("/etc/group", Array("root:x:0:\nmartlet:x:\(Sandbox.user):\nnogroup:x:65534:\n".utf8)),
            ("/etc/hosts", Array(Self.hosts(network).utf8)),
        ]
        var options: [String] = []
        switch network {
        case .none: files.append(("/etc/resolv.conf", Array(Self.noResolvers.utf8)))
        case .shared: options += ["--ro-bind-try", "/etc/resolv.conf", "/etc/resolv.conf"]
        case .own:
            let host = Self.read("/etc/resolv.conf")
            let own = Resolvers(host: String(decoding: host, as: UTF8.self), own: UserNetwork.nameServer)
            files.append(("/etc/resolv.conf", Array(own.text.utf8)))
        }
        if !isImage {
            files.append(("/etc/hostname", Array("\(Sandbox.hostName)\n".utf8)))
            files.append(("/etc/machine-id", Array("\(Self.machine)\n".utf8)))
            let zone = MachineFiles.timeZone == nil ? ["localtime"] : []
            files += (MachineFiles.copied + zone).compactMap { name in
                SmallFile.read("/etc/" + name, limit: Self.sizeLimit).map { ("/etc/" + name, $0) }
            }
        }
        for (index, (path, _)) in files.enumerated() {
            let descriptor = "\(SandboxProcess.firstFileDescriptor + Int32(index))"
            options += ["--perms", "0644", isImage ? "--ro-bind-data" : "--file", descriptor, path]
        }
        self.options = options
        texts = files.map(\.1)
    }

    /// An identifier in the form of machine-id(5): the same in every sandbox of every machine, since it must not identify any.
    private static let machine = "6d6172746c6574000000000000000001"

    /// Without a network, names that are not in `/etc/hosts` are not found: this file tells its readers why.
    private static let noResolvers =
        "# This step has no network. With `network: full` in the recipe it has one, and the machine's name servers.\n"

    /// The hosts file, with the sandbox's own name, since programs look up the address of their machine.
    private static func hosts(_ network: Network) -> String {
        let own = "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n127.0.1.1 \(Sandbox.hostName)\n"
        guard network != .none else { return own }
        let machine = String(decoding: read("/etc/hosts"), as: UTF8.self)
        return own + machine + (machine.isEmpty || machine.hasSuffix("\n") ? "" : "\n")
    }

    private static func read(_ path: String) -> [UInt8] { SmallFile.read(path, limit: sizeLimit) ?? [] }

    /// What network a sandboxed step has.
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
