import JobProtocol

/// Finds what a failed step may have lacked in the sandbox, from the last lines that it printed, and names the setting that provides it. This is a
/// guess, so it is a note and changes no verdict.
///
/// Whether a path exists on the machine is never looked up: a job could otherwise ask for any file.
enum SandboxHint {
    /// How much of the end of a step's output is searched, in bytes.
    static let tailBytes = 64 * 1024

    /// Messages of programs that find no name or reach no address: of the C library, curl, git, Go, Node, Java, Rust, Python.
    private static let noNetwork = [
        "could not resolve host", "temporary failure in name resolution", "name or service not known", "no such host",
        "eai_again", "getaddrinfo enotfound", "code enotfound", "unknownhostexception",
        "failed to lookup address information",
        "network is unreachable", "enetunreach", "cannot assign requested address",
    ]

    /// Calls that no setting allows, and the words that show that a program wants them.
    private static let refused: [(words: [String], name: String)] = [
        (["perf_event_open", "perf_event_paranoid"], "the kernel's performance events (perf)"),
        (
            ["unshare failed", "unshare: ", "clone_new", "no permissions to create new namespace"],
            "namespaces of its own"
        ),
        (["io_uring"], "io_uring"), (["userfaultfd"], "userfaultfd"), (["docker daemon", "docker.sock"], "containers"),
        (["fuse: device not found", "/dev/fuse"], "FUSE"), (["/dev/kvm"], "/dev/kvm"),
    ]

    /// Directories of which a job sees only what the manual or the settings name. Homes are not among them: a job that prints the path of a
    /// private key must not make the service recommend showing it.
    private static let hidden = ["/etc/", "/opt/", "/srv/", "/mnt/", "/var/lib/", "/var/cache/"]
    /// Part of the paths of the service's own directories, which no setting shows (see `HiddenPaths`).
    private static let own = "/martlet"

    /// - Parameter tail: The end of the step's output.
    /// - Returns: `nil` if nothing in it suggests such a lack.
    static func find(in tail: some Collection<UInt8>, of step: JobDescription.Step, home: String) -> String? {
        let lines = tail.split(separator: UInt8(ascii: "\n")).reversed()
        for bytes in lines {
            let line = String(decoding: bytes.prefix(4096), as: UTF8.self)
            let small = line.lowercased()
            if step.network == .none, noNetwork.contains(where: small.contains) {
                return
                    "the step \(step.name) has no network; `network: full` for it or its configuration in the recipe gives it one"
            }
            if let path = hiddenPath(in: line, small, home: home) {
                return """
                    the step \(step.name) looked for \(path), which jobs in the sandbox do not see; \
                    `fence: { read-only: [\(path)] }` in the settings shows it, where it is there
                    """
            }
            if let found = refused.first(where: { $0.words.contains(where: small.contains) }) {
                return
                    "the step \(step.name) may want \(found.name), which the sandbox refuses; no setting but `isolation: none` allows it"
            }
        }
        return nil
    }

    private static func hiddenPath(in line: String, _ small: String, home: String) -> String? {
        guard small.contains("no such file or directory") || small.contains("enoent") else { return nil }
        let words = line.split { $0.isWhitespace || "'\"`‘’“”:,;()[]<>=".contains($0) }.map(String.init)
        return words.first { word in
            hidden.contains(where: word.hasPrefix) && !word.hasPrefix(home + "/") && !word.contains(own)
                && word.utf8.count <= 200
                && word.allSatisfy { $0.isASCII && !$0.isNewline }
        }
    }
}
