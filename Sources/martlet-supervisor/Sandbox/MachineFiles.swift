import Glibc
import JobProtocol

/// The configuration of the machine that a sandbox shows beside `/usr`: the places where Debian's and Fedora's packages keep what their programs
/// read.
///
/// This is a list of what is shown, never of what is hidden. It contains no path that names users, keys, other machines or tokens. It leaves out
/// `/etc/shadow`, `/etc/ssh`, `/etc/ssl/private`, `/etc/sudoers`, `/etc/martlet`, `gitconfig`, `npmrc`, `pip.conf`, `wgetrc`, `environment`,
/// `profile.d`, and apt's and Maven's settings. The manual has the list ("The sandbox").
enum MachineFiles {
    /// Files of /etc that are copied into the root in memory. A copy costs bubblewrap less than a mount.
    static let copied = [
        "debian_version", "host.conf", "ld.so.cache", "ld.so.conf", "locale.alias", "lsb-release", "manpath.config",
        "maven/logging/simplelogger.properties", "maven/m2.conf", "mime.types", "nsswitch.conf", "ocamlfind.conf",
        "protocols", "services", "ssl/openssl.cnf", "timezone",
    ]

    /// Directories, mounted read-only if they exist.
    private static let directories =
        [
            "alternatives", "crypto-policies", "dictionaries-common", "dpkg", "fonts", "ghostscript", "ld.so.conf.d",
            "libreoffice", "mono", "openmpi", "OpenCL", "perl", "php", "pki/ca-trust/extracted", "pki/tls/certs", "R",
            "sgml", "ssl/certs", "texmf", "vulkan", "xml",
        ].map { "/etc/" + $0 }
        + [
            "alternatives", "aspell", "dpkg", "gems", "ghc", "ghostscript", "ispell", "mecab", "php/modules", "rpm",
            "texmf",
        ].map { "/var/lib/" + $0 }

    /// Further directories of /etc, by the beginnings of their names: Debian's Java does not start without its own.
    private static let prefixes = ["ImageMagick-", "java-"]

    /// The kernel's description of the processors and their memory.
    static let processors: [String] = ["/sys/devices/system/cpu", "/sys/devices/system/node"].filter {
        access($0, F_OK) == 0
    }

    /// The directories that exist on this machine.
    static var mounted: [String] {
        let more = Tree.names(in: "/etc").filter { name in prefixes.contains { name.hasPrefix($0) } }.sorted()
        return (directories + more.map { "/etc/" + $0 }).filter { access($0, F_OK) == 0 } + processors
    }

    /// Returns all directories above the shown paths. Bubblewrap would create them with access for their owner only.
    static func parents(of paths: [String]) -> [String] {
        var parents: Set<String> = []
        for path in paths {
            var end = path.lastIndex(of: "/")
            while let found = end, found > path.startIndex {
                parents.insert(String(path[..<found]))
                end = path[..<found].lastIndex(of: "/")
            }
        }
        return parents.sorted()
    }

    /// The target of the time zone's link, from which programs read the zone's name; `nil` if it is a file, or leads out of `/usr`.
    static var timeZone: String? {
        guard let target = SandboxRoot.link("/etc/localtime") else { return nil }
        return SandboxRoot.realPath("/etc/localtime")?.hasPrefix("/usr/") ?? false ? target : nil
    }
}
