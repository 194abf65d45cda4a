import JobProtocol

/// Finds what a failed step may have lacked in the sandbox, from the last lines that it printed, and names the setting that provides it. This is a
/// guess, so it is a note and does not change the verdict.
///
/// It never checks whether a path exists on the machine: a job could otherwise probe for any file.
enum SandboxHint {
    /// The number of bytes at the end of a step's output that are searched.
    static let tailBytes = 64 * 1024

    /// Messages of programs that cannot resolve a name or reach an address, in lower case: of the C library, curl, git, Go, Node, Java, Rust and
    /// Python.
    static let noNetwork = [
        "could not resolve host", "temporary failure in name resolution", "name or service not known", "no such host",
        "eai_again", "getaddrinfo enotfound", "code enotfound", "unknownhostexception",
        "failed to lookup address information",
        "network is unreachable", "enetunreach", "cannot assign requested address",
    ]

    /// Calls that no setting allows, with the words that show that a program uses them.
    private static let refused: [(words: [String], name: String)] = [
        (["perf_event_open", "perf_event_paranoid"], "the kernel's performance events (perf)"),
        (
            ["unshare failed", "unshare: ", "clone_new", "no permissions to create new namespace"],
            "namespaces of its own"
        ),
        (["io_uring"], "io_uring"), (["userfaultfd"], "userfaultfd"), (["docker daemon", "docker.sock"], "containers"),
        (["fuse: device not found", "/dev/fuse"], "FUSE"), (["/dev/kvm"], "/dev/kvm"),
    ]

    /// Directories of which a job sees only what the manual or the settings name. Homes are not included: if a job prints the path of a private key,
    /// the service must not recommend to show it.
    private static let hidden = ["/etc/", "/opt/", "/srv/", "/mnt/", "/var/lib/", "/var/cache/"]
    /// Top-level directories in which git repositories are never recommended: those that a job sees anyway, and homes (`home` and `root` by the
    /// Filesystem Hierarchy Standard 3.0).
    private static let seenOrPrivate: Set<Substring> = [
        "usr", "tmp", "dev", "proc", "sys", "run", "martlet", "home", "root",
    ]

    /// Returns a sentence about what the step may have lacked.
    /// - Parameters:
    ///   - tail: The end of the step's output.
    ///   - own: The service's own paths, which no setting shows.
    /// - Returns: `nil` if no line suggests such a lack.
    static func find(
        in tail: some Collection<UInt8>, of step: JobDescription.Step, home: String, own: HiddenPaths
    ) -> String? {
        let lines = tail.split(separator: UInt8(ascii: "\n")).reversed()
        for bytes in lines {
            let line = String(decoding: bytes.prefix(4096), as: UTF8.self)
            let small = line.lowercased()
            if step.network == .none, noNetwork.contains(where: small.contains) {
                return
                    "the step \(step.name) has no network; `network: full` for it or its configuration in the recipe gives it one"
            }
            if let path = repositoryPath(in: line, small, home: home, own: own) {
                return """
                    the step \(step.name) asked git for the repository \(path), which jobs in the sandbox do not see; if git's configuration \
                    (`url.….insteadOf`) sends an address there, `sandbox: { read-only: [\(path)] }` in the settings shows it
                    """
            }
            if let path = hiddenPath(in: line, small, home: home, own: own) {
                return """
                    the step \(step.name) looked for \(path), which jobs in the sandbox do not see; \
                    `sandbox: { read-only: [\(path)] }` in the settings shows it, where it is there
                    """
            }
            if let hint = readOnlyHint(in: line, small, step) { return hint }
            if let found = refused.first(where: { $0.words.contains(where: small.contains) }) {
                return
                    "the step \(step.name) may want \(found.name), which the sandbox refuses; no setting but `isolation: none` allows it"
            }
        }
        return nil
    }

    private static func hiddenPath(in line: String, _ small: String, home: String, own: HiddenPaths) -> String? {
        guard small.contains("no such file or directory") || small.contains("enoent") else { return nil }
        return words(of: line).first { word in
            hidden.contains(where: word.hasPrefix) && isRecommended(word, home: home, own: own)
        }
    }

    /// Returns the path of a repository that git did not find, from git's messages (setup.c, upload-pack.c, builtin/clone.c). `nil` if there is none.
    private static func repositoryPath(in line: String, _ small: String, home: String, own: HiddenPaths) -> String? {
        guard
            small.contains("does not appear to be a git repository")
                || small.contains("repository '/") && small.contains("does not exist")
        else { return nil }
        return words(of: line).first { word in
            word.hasPrefix("/") && !seenOrPrivate.contains(word.dropFirst().prefix { $0 != "/" })
                && isRecommended(word, home: home, own: own)
        }
    }

    /// Returns what to do about a write to a read-only path; `nil` if the line is not about that.
    private static func readOnlyHint(in line: String, _ small: String, _ step: JobDescription.Step) -> String? {
        guard small.contains("read-only file system") || small.contains("erofs") else { return nil }
        let path = words(of: line).first { $0.hasPrefix("/") && isPrintable($0) && $0.utf8.count > 1 }
        guard let path else {
            return
                "the step \(step.name) wrote to a read-only place; it can write in the workspace, `$HOME` and `$TMPDIR`"
        }
        if path.hasPrefix("/martlet/"), path.contains("/.git") {
            return
                "the step \(step.name) cannot write \(path): the workspace's `.git` is read-only for jobs; clone it (`git clone . copy`) to commit"
        }
        return """
            the step \(step.name) cannot write \(path): in the sandbox everything but the workspace, `$HOME` and `$TMPDIR` is read-only; \
            set the directory that it writes to (such as a `--prefix`, or a variable in the recipe's `environment`) to one of these
            """
    }

    private static func words(of line: String) -> [String] {
        line.split { $0.isWhitespace || "'\"`‘’“”:,;()[]<>=".contains($0) }.map(String.init)
    }

    private static func isRecommended(_ path: String, home: String, own: HiddenPaths) -> Bool {
        !path.hasPrefix(home + "/") && !own.areNamed(by: path) && isPrintable(path)
    }

    private static func isPrintable(_ path: String) -> Bool {
        path.utf8.count <= 200 && path.allSatisfy { $0.isASCII && !$0.isNewline }
    }
}
