import Basics
package import Model
import Synchronization

/// A repository made by the real git, with the same commits and ids in every run. The author is fixed, and dates advance by one minute per commit
/// from 2026-01-01. The configuration of the user and the machine is not read.
package final class GitRepository: Sendable {
    package let path: String
    package let isBare: Bool
    private let commits = Mutex<Int64>(0)

    private init(path: String, isBare: Bool) {
        self.path = path
        self.isBare = isBare
    }

    /// Makes an empty repository with the branch `main`.
    package static func make(at path: String, isBare: Bool = false) async throws -> GitRepository {
        let repository = GitRepository(path: path, isBare: isBare)
        _ = try Directory(creating: path)
        try await repository.git(["init", "-q", "-b", "main"] + (isBare ? ["--bare"] : []))
        return repository
    }

    /// Returns the environment in which git runs.
    package static func environment(date: Timestamp? = nil) -> [String: String] {
        var environment = [
            "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C", "TZ": "UTC",
            "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_TERMINAL_PROMPT": "0",
            "GIT_AUTHOR_NAME": "Ada Author", "GIT_AUTHOR_EMAIL": "ada@acme.example",
            "GIT_COMMITTER_NAME": "Ada Author", "GIT_COMMITTER_EMAIL": "ada@acme.example",
        ]
        if let date {
            let text = "\(date.millisecondsSinceEpoch / 1000) +0000"
            environment["GIT_AUTHOR_DATE"] = text
            environment["GIT_COMMITTER_DATE"] = text
        }
        return environment
    }

    /// Runs git in the repository.
    /// - Returns: Its output without the newline at its end.
    /// - Throws: `ProgramFailure` with git's message if it fails.
    @discardableResult
    package func git(_ arguments: [String], date: Timestamp? = nil, input: String? = nil) async throws -> String {
        let output = try await runExpectingSuccess(
            ["git"] + arguments, in: path, environment: Self.environment(date: date), input: input)
        return output.hasSuffix("\n") ? String(output.dropLast()) : output
    }

    /// Runs git in the repository.
    @discardableResult
    package func git(_ arguments: String...) async throws -> String { try await git(arguments) }

    /// Commits on the current branch.
    /// - Parameters:
    ///   - files: Texts by path. A script (`#!`) becomes executable.
    ///   - removing: The paths to remove.
    package func commit(
        files: [String: String] = [:], removing: [String] = [], message: String = "Change", date: Timestamp? = nil
    ) async throws -> CommitID {
        let directory = try Directory(opening: path)
        for (name, text) in files.sorted(by: { $0.key < $1.key }) {
            if let slash = name.lastIndex(of: "/") { try directory.makeDirectories(String(name[..<slash])) }
            try directory.write(name, bytes: Array(text.utf8), mode: text.hasPrefix("#!") ? 0o755 : 0o644)
        }
        for name in removing { try directory.remove(name) }
        try await git("add", "-A")
        let count = commits.withLock { count in
            count += 1
            return count
        }
        // 2026-01-01T00:00:00Z
        let usual = Timestamp(secondsSinceEpoch: 1_767_225_600 + count * 60)
        try await git(["commit", "-q", "--allow-empty", "-m", message], date: date ?? usual)
        return try await head()
    }

    /// Adds empty commits at the end of a branch with one process of git; `commit` needs three for each.
    package func commits(_ count: Int, on branch: String) async throws {
        let head = try await head("refs/heads/" + branch)
        let stream = (0..<count).map { number in
            """
            commit refs/heads/\(branch)
            committer Ada Author <ada@acme.example> \(1_767_225_600 + number * 60) +0000
            data 6
            Change
            \(number == 0 ? "from \(head)\n" : "")

            """
        }
        try await git(["fast-import", "--quiet"], input: stream.joined())
    }

    /// Returns the commit of a revision.
    package func head(_ revision: String = "HEAD") async throws -> CommitID {
        let text = try await git("rev-parse", "--verify", revision + "^{commit}")
        guard let id = CommitID(text) else { throw ProgramFailure(description: "git printed no commit id: \(text)") }
        return id
    }

    /// Makes a branch and checks it out.
    package func branch(_ name: String, at revision: String = "HEAD") async throws {
        try await git("checkout", "-q", "-B", name, revision)
    }

    package func checkout(_ revision: String) async throws { try await git("checkout", "-q", revision) }

    /// Makes a tag; an annotated one if there is a message.
    package func tag(_ name: String, at revision: String = "HEAD", message: String? = nil) async throws {
        let date = Timestamp(secondsSinceEpoch: 1_767_225_600)
        try await git(["tag", "-f"] + (message.map { ["-a", "-m", $0] } ?? []) + [name, revision], date: date)
    }

    /// Pushes refspecs. Without any, it pushes every branch and tag, and deletes those that this repository does not have.
    package func push(to other: GitRepository, _ refspecs: [String] = []) async throws {
        if refspecs.isEmpty {
            try await git(
                "push", "-q", "--prune", "--force", other.path, "refs/heads/*:refs/heads/*", "refs/tags/*:refs/tags/*")
        } else {
            try await git(["push", "-q", other.path] + refspecs)
        }
    }

    /// Makes a bare copy, as a server has it.
    package func bareClone(at path: String) async throws -> GitRepository {
        try await git("clone", "-q", "--bare", self.path, path)
        return GitRepository(path: path, isBare: true)
    }

    /// Makes a copy with a work tree.
    package func clone(at path: String) async throws -> GitRepository {
        try await git("clone", "-q", self.path, path)
        return GitRepository(path: path, isBare: false)
    }
}
