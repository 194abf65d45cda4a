import JobProtocol
import TestSupport
import Testing

@testable import Jobs

/// The output of a step, in the programs' own words.
@Suite struct SandboxHintTests {
    private func hint(_ output: String, network: JobDescription.Network = .none) -> String? {
        let step = JobDescription.Step(
            step: "testing", name: "test", arguments: ["x"], timeoutMilliseconds: 1, network: network)
        return SandboxHint.find(
            in: Array(output.utf8), of: step, home: "/home/martlet",
            own: HiddenPaths(paths: ["/etc/martlet/secrets"], places: ["/var/lib/martlet", "/srv/ci/state"]))
    }

    @Test(
        .proves(
            .jobs,
            "A step that failed in the sandbox for lack of the network, a hidden path or a refused call gets a note with the setting that allows it"
        ),
        arguments: [
            "curl: (6) Could not resolve host: example.com",
            "fatal: unable to access 'https://h/k.git/': Could not resolve host: h",
            "Get \"https://proxy.golang.org/\": dial tcp: lookup proxy.golang.org: no such host",
            "npm ERR! request to https://registry.npmjs.org/x failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org",
            "java.net.UnknownHostException: repo.maven.apache.org: Name or service not known",
            "error: failed to lookup address information: Temporary failure in name resolution",
            "OSError: [Errno 101] Network is unreachable",
        ])
    func testThatAStepWithoutANetworkIsToldOfIt(line: String) {
        #expect(hint("making\n\(line)\nmake: *** [all] Error 1\n")?.contains("`network: full`") == true)
        #expect(hint(line, network: .full) == nil)
    }

    @Test(
        .proves(
            .jobs,
            "A step that failed in the sandbox for lack of the network, a hidden path or a refused call gets a note with the setting that allows it"
        ),
        arguments: [
            ("cat: /etc/pip.conf: No such file or directory", "/etc/pip.conf"),
            ("open '/opt/sdk/bin/tool': No such file or directory", "/opt/sdk/bin/tool"),
            ("FileNotFoundError: [Errno 2] No such file or directory: '/var/lib/db/x'", "/var/lib/db/x"),
            ("Error: ENOENT: no such file or directory, open '/srv/data.json'", "/srv/data.json"),
        ])
    func testThatAPathThatIsNotShownIsNamedWithTheSettingThatShowsIt(line: String, path: String) {
        expectContains(hint("\(line)\n") ?? "", "`sandbox: { read-only: [\(path)] }`")
    }

    @Test(
        .proves(
            .jobs,
            "A step that failed in the sandbox for lack of the network, a hidden path or a refused call gets a note with the setting that allows it"
        ),
        arguments: [
            "perf_event_open(...) failed: Operation not permitted", "unshare failed: Operation not permitted",
            "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
        ])
    func testThatWhatNoSettingAllowsIsNamed(line: String) {
        expectContains(hint(line) ?? "", "no setting but `isolation: none`")
    }

    @Test(
        .proves(
            .jobs,
            "A step that fails because of git's own configuration or a read-only place gets a note with the path and the setting; the service's own paths are never recommended"
        ),
        arguments: [
            "cat: /etc/martlet/secrets: No such file or directory",
            "cat: /var/lib/martlet/martlet.sqlite: No such file or directory",
            "cat: /srv/ci/state/martlet.sqlite: No such file or directory",
            // To show these would show the service's own files.
            "ls: cannot access '/srv/ci': No such file or directory",
            "ls: cannot access '/etc/martlet': No such file or directory",
            "fatal: '/srv/ci/state/repositories/kit.git' does not appear to be a git repository",
        ])
    func testThatTheServicesOwnFilesAreNotRecommended(line: String) {
        #expect(hint(line) == nil)
    }

    /// The places of the service's own files decide, not a similar name.
    @Test func testThatAPathThatIsOnlyNamedLikeTheServiceIsRecommended() {
        expectContains(
            hint("open '/opt/martlet-sdk/tool': No such file or directory") ?? "",
            "`sandbox: { read-only: [/opt/martlet-sdk/tool] }`")
    }

    @Test(
        .proves(
            .jobs,
            "A step that fails because of git's own configuration or a read-only place gets a note with the path and the setting; the service's own paths are never recommended"
        ),
        arguments: [
            "fatal: '/srv/mirrors/kit.git' does not appear to be a git repository",
            "fatal: repository '/srv/mirrors/kit.git' does not exist",
            "error: Failed to clone repository https://github.com/acme/kit:\n    fatal: repository '/srv/mirrors/kit.git' does not exist",
        ])
    func testThatARepositoryThatGitIsSentToIsNamedWithTheSettingThatShowsIt(output: String) {
        for network in JobDescription.Network.allCases {
            let hint = hint(output + "\n", network: network) ?? ""
            expectContains(
                hint, "asked git for the repository /srv/mirrors/kit.git, which jobs in the sandbox do not see")
            expectContains(hint, "`url.….insteadOf`")
            expectContains(hint, "`sandbox: { read-only: [/srv/mirrors/kit.git] }`")
        }
    }

    @Test(arguments: [
        "fatal: '/home/ann/kit.git' does not appear to be a git repository",
        "fatal: 'origin' does not appear to be a git repository",
        "fatal: repository '/martlet/kit/other' does not exist",
    ])
    func testThatNoOtherRepositoryIsRecommended(line: String) {
        #expect(hint(line) == nil)
    }

    @Test(
        .proves(
            .jobs,
            "A step that fails because of git's own configuration or a read-only place gets a note with the path and the setting; the service's own paths are never recommended"
        ),
        arguments: [
            ("touch: cannot touch '/usr/local/lib/x': Read-only file system", "/usr/local/lib/x"),
            ("OSError: [Errno 30] Read-only file system: '/opt/sdk/cache'", "/opt/sdk/cache"),
            ("Error: EROFS: read-only file system, mkdir '/var/www'", "/var/www"),
        ])
    func testThatAReadOnlyPathIsNamedWithWhatToSet(line: String, path: String) {
        let hint = hint("\(line)\n") ?? ""
        expectContains(
            hint,
            "cannot write \(path): in the sandbox everything but the workspace, `$HOME` and `$TMPDIR` is read-only")
        expectContains(hint, "`--prefix`")
        expectContains(hint, "the recipe's `environment`")
    }

    @Test func testThatTheWorkspacesRepositoryIsReadOnly() {
        expectContains(
            hint("fatal: Unable to create '/martlet/kit/.git/index.lock': Read-only file system") ?? "",
            "the workspace's `.git` is read-only for jobs")
    }

    @Test func testThatAReadOnlyPlaceWithoutAPathSaysWhereToWrite() {
        expectContains(
            hint("write failed: Read-only file system") ?? "", "it can write in the workspace, `$HOME` and `$TMPDIR`")
    }

    @Test(arguments: ["root", "home/ann"]) func testThatNoHomeIsRecommended(directory: String) {
        #expect(hint("open '/\(directory)/.netrc': No such file or directory") == nil)
    }

    @Test(
        .proves(
            .jobs,
            "A step that failed in the sandbox for lack of the network, a hidden path or a refused call gets a note with the setting that allows it"
        ),
        arguments: [
            "", "error: x", "cat: missing.txt: No such file or directory",
            "cat: /martlet/kit/x: No such file or directory", "cat: /home/martlet/x: No such file or directory",
            "/usr/include/x.h: No such file or directory", "the host could be resolved", "a ENOENT /etc",
        ])
    func testThatOtherFailuresHaveNone(output: String) {
        #expect(hint(output) == nil)
    }
}
