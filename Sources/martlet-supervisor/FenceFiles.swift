import Glibc
import JobProtocol

/// The few files of /etc that are written for a step, so that they say who and where it is and nothing of the host.
struct FenceFiles {
    let binds: [String]
    /// What stands in them, in the order of the descriptors from `Fence.firstFileDescriptor` on.
    let texts: [[UInt8]]

    init(network: JobDescription.Network, home: String) {
        var files = [
            (
                "/etc/passwd",
                """
                root:x:0:0:root:/root:/usr/sbin/nologin
                martlet:x:\(Fence.user):\(Fence.user):martlet:\(home):/bin/sh
                nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin

                """
            ), ("/etc/group", "root:x:0:\nmartlet:x:\(Fence.user):\nnogroup:x:65534:\n"),
        ]
        var binds: [String] = []
        if network == .none {
            files.append(("/etc/hosts", "127.0.0.1 localhost\n::1 localhost ip6-localhost\n"))
        } else {
            for path in ["/etc/hosts", "/etc/resolv.conf"] { binds += ["--ro-bind-try", path, path] }
        }
        for (index, (path, _)) in files.enumerated() {
            binds += ["--perms", "0644", "--ro-bind-data", "\(Fence.firstFileDescriptor + Int32(index))", path]
        }
        self.binds = binds
        texts = files.map { Array($0.1.utf8) }
    }

    /// Where files are laid over the root's own.
    static let places = ["/etc/passwd", "/etc/group", "/etc/hosts", "/etc/resolv.conf"]
}
