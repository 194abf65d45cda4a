import Glibc
import Synchronization

/// The `git` command of this machine, for what libgit2 1.5 cannot do or does slowly: ssh with RSA keys and known hosts of a
/// secret, first mirrors, local paths, repacking.
///
/// It never opens a mirror: it works in an empty repository beside it (`GitScratch`) whose objects are the mirror's, reads
/// no configuration but ours, asks nobody, follows no redirect, and speaks the one protocol that the URL names. What it
/// fetched counts only as far as libgit2 finds it.
struct GitProgram: Sendable, Hashable {
    /// The absolute path of `git`.
    let path: String
    /// As it says itself: `2.39.5`.
    let version: String
    /// The absolute path of OpenSSH's client.
    let ssh: String?

    /// Oldest version that is used: 2.38.1 does not follow links among a local repository's objects (CVE-2022-39253), and
    /// knows the settings of `GitScratch`.
    static let oldest = [2, 38, 1]

    /// The one in `PATH` or the system's directories.
    /// - Returns: Nothing when there is none, or none that is new enough.
    /// - Throws: As `find(in:)`.
    static func installed() throws(SourceControlError) -> GitProgram? {
        try memory.program(in: directories(path: getenv("PATH").map { String(cString: $0) } ?? ""))
    }

    private static let memory = Memory()

    /// Remembers what was found, as long as it is there; never that nothing was: a machine that cannot start a process for a
    /// moment would go without git until the daemon's end.
    final class Memory: Sendable {
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

    /// The first that is new enough: an old one before it in `PATH` does not hide it.
    /// - Throws: `unreachable`, so that it is tried again, when there is none but one that could not be started: without it, TLS
    ///   1.0 and keys that only OpenSSH knows would be another answer than a moment before.
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
            message: "\(failure.message); it is tried again later", underlying: failure)
    }

    /// Reads `git version 2.39.5 (…)`.
    static func version(of text: String) -> String? {
        let words = text.split { $0 == " " || $0 == "\n" }
        return words.count < 3 ? nil : String(words[2])
    }

    static func isRecent(_ version: String) -> Bool {
        let numbers = version.split(separator: ".").prefix(3).map { Int($0) ?? 0 }
        return !numbers.lexicographicallyPrecedes(oldest)
    }
}
