import Glibc
import Synchronization

/// The machine's `git` command, for tasks that libgit2 1.5 cannot do or does slowly: ssh with RSA keys and known hosts of a secret, first mirrors,
/// local paths, repacking.
///
/// It never opens a mirror. It works in an empty repository beside it (`GitScratch`) whose objects are the mirror's. It reads no configuration of the
/// machine, prompts for nothing, follows no redirect, and uses only the protocol of the URL. What it fetched counts only if libgit2 finds it.
struct GitProgram: Sendable, Hashable {
    /// The absolute path of `git`.
    let path: String
    /// The version that it reports: `2.39.5`.
    let version: String
    /// The absolute path of OpenSSH's client; `nil` if it is not installed.
    let ssh: String?

    /// The oldest version that is used. 2.38.1 does not follow links among a local repository's objects (CVE-2022-39253), and supports the settings
    /// of `GitScratch`.
    static let oldest = [2, 38, 1]

    /// Returns the command in `PATH` or the system's directories.
    /// - Returns: `nil` if there is none, or none that is new enough.
    /// - Throws: The same as `find(in:)`.
    static func installed() throws(SourceControlError) -> GitProgram? {
        try cache.program(in: directories(path: getenv("PATH").map { String(cString: $0) } ?? ""))
    }

    private static let cache = Cache()

    /// Caches a command that was found, as long as it exists. It does not cache that none was found: a machine that temporarily cannot start a
    /// process would otherwise be without git until the daemon's end.
    final class Cache: Sendable {
        private let found = Mutex<GitProgram?>(nil)

        func program(in directories: [String]) throws(SourceControlError) -> GitProgram? {
            if let known = found.withLock({ $0 }), access(known.path, X_OK) == 0 { return known }
            let program = try GitProgram.find(in: directories)
            found.withLock { $0 = program }
            return program
        }
    }

    static func directories(path: String) -> [String] {
        (path.split(separator: ":").map(String.init) + ["/usr/local/bin", "/usr/bin", "/bin"]).filter {
            $0.hasPrefix("/")
        }
    }

    /// Returns the first command that is new enough, even if an older one precedes it in `PATH`. `nil` if there is none.
    /// - Throws: `unreachable` if the only commands could not be started, so that the operation is tried again. Without the command, TLS 1.0 and keys
    ///   that only OpenSSH supports would give another result than a moment before.
    static func find(in directories: [String]) throws(SourceControlError) -> GitProgram? {
        func programs(_ name: String) -> [String] {
            directories.map { "\($0)/\(name)" }.filter { access($0, X_OK) == 0 }
        }
        var failure: SourceControlError?
        for git in programs("git") {
            let asked = ChildProcess(
                arguments: [git, "--version"], environment: ["LC_ALL": "C", "PATH": "/usr/bin:/bin"], directory: "/")
            do throws(SourceControlError) {
                let answer = try asked.run("asking \(git) for its version", control: nil)
                let text = String(decoding: answer.output, as: UTF8.self)
                guard answer.status == 0, let version = version(of: text), isRecent(version) else { continue }
                return GitProgram(path: git, version: version, ssh: programs("ssh").first)
            } catch {
                failure = error
            }
        }
        guard let failure else { return nil }
        throw SourceControlError(
            code: .unreachable, operation: failure.operation,
            message: "\(failure.message); Martlet tries again later", underlying: failure)
    }

    /// Reads the version from a text such as `git version 2.39.5 (…)`.
    static func version(of text: String) -> String? {
        let words = text.split { $0 == " " || $0 == "\n" }
        return words.count < 3 ? nil : String(words[2])
    }

    static func isRecent(_ version: String) -> Bool {
        let numbers = version.split(separator: ".").prefix(3).map { Int($0) ?? 0 }
        return !numbers.lexicographicallyPrecedes(oldest)
    }
}
