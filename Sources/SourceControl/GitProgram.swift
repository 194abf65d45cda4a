import Glibc

/// The `git` command of this machine, for what libgit2 1.5 cannot do or does slowly: ssh with RSA keys and known hosts of a
/// secret, proxies, first mirrors, local paths, repacking.
///
/// It never opens a mirror: it works in an empty repository beside it (`GitScratch`) whose objects are the mirror's, reads
/// no configuration but ours, asks nobody, follows no redirect, and speaks the one protocol that the URL names. What it
/// fetched counts only as far as libgit2 finds it.
struct GitProgram: Sendable, Hashable {
    /// The absolute path of `git`.
    let path: String
    /// The absolute path of OpenSSH's client.
    let ssh: String?

    /// Oldest version that is used: 2.38.1 does not follow links among a local repository's objects (CVE-2022-39253), and
    /// knows the settings of `GitScratch`.
    static let oldest = [2, 38, 1]

    /// The one in `PATH` or the system's directories, unless it is too old.
    static let installed: GitProgram? = find(path: getenv("PATH").map { String(cString: $0) } ?? "")

    static func find(path: String) -> GitProgram? {
        let directories = path.split(separator: ":").map(String.init) + ["/usr/local/bin", "/usr/bin", "/bin"]
        func program(_ name: String) -> String? {
            directories.lazy.filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
        }
        guard let git = program("git") else { return nil }
        let asked = ChildProcess(
            arguments: [git, "--version"], environment: ["LC_ALL": "C", "PATH": "/usr/bin:/bin"], directory: "/")
        // One that does not answer is as good as none.
        guard let answer = try? asked.run("asking git for its version", control: nil), answer.status == 0,
            isRecent(String(decoding: answer.output, as: UTF8.self))
        else { return nil }
        return GitProgram(path: git, ssh: program("ssh"))
    }

    /// Reads `git version 2.39.5 (…)`.
    static func isRecent(_ text: String) -> Bool {
        let words = text.split { $0 == " " || $0 == "\n" }
        guard words.count >= 3 else { return false }
        let numbers = words[2].split(separator: ".").prefix(3).map { Int($0) ?? 0 }
        return !numbers.lexicographicallyPrecedes(oldest)
    }
}
