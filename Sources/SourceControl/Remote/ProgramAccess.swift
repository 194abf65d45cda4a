import Basics
import Glibc
import Model

/// The credentials, host keys and proxies that `git` gets for one operation.
///
/// Secrets are in memory files behind descriptors, never in an argument, an environment variable or a file on the disk. git asks for them through a
/// credential helper that is set only for the URL's own host and port. ssh reads them as identity and known-hosts files.
struct ProgramAccess {
    var configuration = ""
    var environment: [String: String] = [:]
    var memory: [[UInt8]] = []

    /// The variables that are passed on from the daemon's environment: the proxies.
    static let passedOn = [
        "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
    ]

    init(url: RemoteURL, credentials: Credentials?, ssh: String?) {
        environment["GIT_ALLOW_PROTOCOL"] = url.kind == .path ? "file" : url.kind.rawValue
        switch url.kind {
        case .https, .http: allowHTTP(url, credentials)
        case .ssh: allowSSH(url, credentials, ssh ?? "ssh")
        case .git, .path: break
        }
    }

    private mutating func allowHTTP(_ url: RemoteURL, _ credentials: Credentials?) {
        for name in Self.passedOn { environment[name] = Self.variable(name) }
        let certificates = CertificateVariables.ofThisProcess
        if let file = certificates.file {
            configuration += "[http]\n\tsslCAInfo = \(GitScratch.quoted(file))\n"
        }
        if let directory = certificates.directory {
            configuration += "[http]\n\tsslCAPath = \(GitScratch.quoted(directory))\n"
        }
        guard let password = credentials?.password, let origin = url.origin else { return }
        let user = url.user ?? credentials?.user ?? "git"
        // A newline would begin another line of the answer (CVE-2020-5260).
        guard !(user + password).utf8.contains(where: { $0 == 10 || $0 == 13 || $0 == 0 }) else { return }
        memory.append(Array("username=\(user)\npassword=\(password)\n".utf8))
        let helper = "!f() { test \"$1\" != get || cat /proc/self/fd/\(2 + memory.count); }; f"
        configuration += "[credential \(GitScratch.quoted(origin))]\n\thelper = \(GitScratch.quoted(helper))\n"
    }

    private mutating func allowSSH(_ url: RemoteURL, _ credentials: Credentials?, _ ssh: String) {
        var options = [
            "BatchMode=yes", "StrictHostKeyChecking=yes", "UpdateHostKeys=no", "CheckHostIP=no",
            "ClearAllForwardings=yes",
            "PermitLocalCommand=no", "PreferredAuthentications=publickey", "IdentitiesOnly=yes", "IdentityAgent=none",
            "ConnectTimeout=30", "LogLevel=ERROR",
        ]
        /// Returns the path of a memory file as a descriptor of the shell that waits for ssh, because ssh itself closes all descriptors first.
        func file(_ text: String) -> String {
            memory.append(Array((text.hasSuffix("\n") ? text : text + "\n").utf8))
            return "/proc/$$/fd/\(2 + memory.count)"
        }
        let home = Self.variable("HOME")
        if let known = credentials?.knownHosts {
            options += ["UserKnownHostsFile=\(file(known))", "GlobalKnownHostsFile=none"]
        } else if let home {
            options.append("UserKnownHostsFile=\(Self.escaped(home))/.ssh/known_hosts")
        }
        switch credentials?.key {
        case .text(let text)?: options.append("IdentityFile=\(file(text))")
        case .files(let privateKey, _)?: options.append("IdentityFile=\(Self.escaped(privateKey))")
        case nil:
            for name in ["id_ed25519", "id_ecdsa", "id_rsa"] {
                if let home { options.append("IdentityFile=\(Self.escaped(home))/.ssh/\(name)") }
            }
        }
        let words = ["\"\(Self.escaped(ssh))\"", "-F", "none"] + options.map { "-o \"\($0)\"" }
        environment["GIT_SSH_COMMAND"] = "f() { \(words.joined(separator: " ")) \"$@\"; return $?; }; f"
        environment["GIT_SSH_VARIANT"] = "ssh"
    }

    /// Returns a path in the form for double quotes of a shell, and for ssh's own expansion of file names.
    private static func escaped(_ path: String) -> String {
        var result = ""
        for character in path {
            if "\\\"$`".contains(character) { result += "\\" }
            if character == "%" { result += "%" }
            result.append(character)
        }
        return result
    }

    static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
