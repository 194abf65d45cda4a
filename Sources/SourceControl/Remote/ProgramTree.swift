import Basics
import CLibGit2
import Glibc
import Model

/// Reads a working tree's repository with the `git` command, for the formats that libgit2 does not read.
///
/// git writes no file there, starts neither hooks nor a file system monitor, and reads no configuration except the repository's.
struct ProgramTree {
    private let directory: String
    private let operation: String
    private let program: GitProgram
    /// The error of libgit2.
    private let refusal: SourceControlError

    /// - Parameter refusal: The error with which libgit2 refused the repository.
    /// - Throws: `unsupported` if `git` is not installed.
    init(_ directory: String, operation: String, after refusal: SourceControlError) throws(SourceControlError) {
        guard let program = try GitProgram.installed() else {
            throw RepositoryFormat.refusal(of: directory, operation, git: nil, refusal)
        }
        (self.directory, self.operation, self.program, self.refusal) = (directory, operation, program, refusal)
    }

    /// Reads the repository.
    /// - Throws: `unsupported` if git does not read it, either, or if it names objects by SHA-256.
    func read() throws(SourceControlError) -> TreeRepository {
        let facts = try lines(["rev-parse", "--path-format=absolute", "--show-object-format", "--git-common-dir"])
        guard facts.count == 2, facts[0] == "sha1" else {
            throw RepositoryFormat.refusal(of: directory, operation, git: program, refusal)
        }
        let ref = try lines(["symbolic-ref", "-q", "HEAD"], accepts: [0, 1]).first.map { RefName($0) }
        let head = try lines(["rev-parse", "-q", "--verify", "HEAD^{commit}"], accepts: [0, 1]).first
        return TreeRepository(
            common: facts[1] + "/", ref: ref ?? RefName("HEAD"), head: head.flatMap { CommitID($0) }, tags: try tags(),
            tracked: try tracked())
    }

    /// Returns the root of the working tree that contains a directory; `nil` if the tree ignores the directory.
    /// - Throws: `unsupported` or `other` if git finds no working tree, as in a bare repository.
    func root() throws(SourceControlError) -> String? {
        let root = try lines(["rev-parse", "--show-toplevel"]).first
        guard let root, root != directory else { return root }
        let ignored = try run(["check-ignore", "-q", "--", directory], accepts: [0, 1])
        return ignored.status == 0 ? nil : root
    }

    private func tags() throws(SourceControlError) -> String {
        var tags: [(name: String, id: String, peeled: String?)] = []
        for line in try lines(["show-ref", "--tags", "--dereference"], accepts: [0, 1]) {
            let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { continue }
            if parts[1].hasSuffix("^{}") {
                if !tags.isEmpty { tags[tags.count - 1].peeled = parts[0] }
            } else {
                tags.append((parts[1], parts[0], nil))
            }
        }
        return TreeRepository.packed(tags)
    }

    private func tracked() throws(SourceControlError) -> [[UInt8]: TreeRepository.Tracked] {
        let changed = Set(
            try run(["diff-files", "--name-only", "-z", "--ignore-submodules"]).output.split(separator: 0).map(
                Array.init))
        var found: [[UInt8]: TreeRepository.Tracked] = [:]
        // A line is `TAG MODE ID STAGE TAB PATH`. The tag is S for a file that is not in a sparse checkout.
        for line in try run(["ls-files", "--stage", "-t", "-z"]).output.split(separator: 0) {
            guard let tab = line.firstIndex(of: UInt8(ascii: "\t")) else { continue }
            let words = String(decoding: line[..<tab], as: UTF8.self).split(separator: " ")
            guard words.count == 4, let mode = UInt32(words[1], radix: 8),
                let id = git_oid(hexadecimal: String(words[2]))
            else { continue }
            let path = Array(line[(tab + 1)...])
            let isUnchanged = words[0] == "H" && words[3] == "0" && !changed.contains(path)
            found[path] = TreeRepository.Tracked(mode: mode, id: id) { _ in isUnchanged }
        }
        return found
    }

    // MARK: git

    private func lines(_ arguments: [String], accepts: Set<Int32> = [0]) throws(SourceControlError) -> [String] {
        let output = try run(arguments, accepts: accepts).output
        return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func run(
        _ arguments: [String], accepts: Set<Int32> = [0]
    ) throws(SourceControlError) -> ChildProcess.Result {
        // `safe.directory` is not set. So git refuses another user's repository, whose configuration could name filters that git starts.
        let settings = [
            "core.fsmonitor=false", "core.hooksPath=/dev/null", "core.quotePath=false", "safe.bareRepository=explicit",
        ]
        let result = try ChildProcess(
            arguments: [program.path] + settings.flatMap { ["-c", $0] } + arguments,
            environment: [
                "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C",
                "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0",
                "GIT_NO_REPLACE_OBJECTS": "1", "GIT_NO_LAZY_FETCH": "1",
            ], directory: directory
        ).run(operation, control: nil)
        guard accepts.contains(result.status) else {
            throw RepositoryFormat.refusal(of: directory, operation, git: program, refusal, said: result.errors)
        }
        return result
    }
}
