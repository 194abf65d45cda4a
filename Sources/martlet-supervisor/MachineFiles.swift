import Glibc
import JobProtocol

/// What of the machine's configuration a fence shows beside `/usr`: the places outside of `/usr` where Debian's and Fedora's packages keep
/// what their programs read.
///
/// A list of what is shown, never of what is hidden. Nothing of it names users, keys, other machines or tokens: `/etc/shadow`, `/etc/ssh`,
/// `/etc/ssl/private`, `/etc/sudoers`, `/etc/martlet`, `gitconfig`, `npmrc`, `pip.conf`, `wgetrc`, `environment`, `profile.d`, apt's and
/// Maven's settings stay out. The manual names what is shown ("The fence").
enum MachineFiles {
    /// Files of /etc that are copied into the root in memory: each costs bubblewrap less than a mount.
    static let copied = [
        "debian_version", "host.conf", "ld.so.cache", "ld.so.conf", "locale.alias", "lsb-release", "manpath.config",
        "maven/logging/simplelogger.properties", "maven/m2.conf", "mime.types", "nsswitch.conf", "ocamlfind.conf",
        "protocols", "services", "ssl/openssl.cnf", "timezone",
    ]

    /// Directories, mounted read-only where they are.
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

    /// More directories of /etc, by the beginning of their names: Debian's Java does not start without its own.
    private static let prefixes = ["ImageMagick-", "java-"]

    /// What the kernel says of the processors and their memory.
    static let processors: [String] = ["/sys/devices/system/cpu", "/sys/devices/system/node"].filter {
        access($0, F_OK) == 0
    }

    /// The directories that are there on this machine.
    static var mounted: [String] {
        let more = Tree.names(in: "/etc").filter { name in prefixes.contains { name.hasPrefix($0) } }.sorted()
        return (directories + more.map { "/etc/" + $0 }).filter { access($0, F_OK) == 0 } + processors
    }

    /// All directories above what is shown. Bubblewrap would make them for their owner alone.
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

    /// Where the time zone is, as a link: programs read its name from that. `nil` where it is a file, or leads out of `/usr`.
    static var timeZone: String? {
        guard let target = FenceRoot.link("/etc/localtime") else { return nil }
        return FenceRoot.realPath("/etc/localtime")?.hasPrefix("/usr/") ?? false ? target : nil
    }
}
