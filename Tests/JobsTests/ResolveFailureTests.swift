import TestSupport
import Testing

@testable import Jobs

/// The last output of a failed resolve step, in the tools' own words.
@Suite struct ResolveFailureTests {
    private func found(_ output: String) -> ResolveFailure? { ResolveFailure.find(in: Array(output.utf8)) }

    @Test(
        .proves(
            .jobs,
            "A failed resolve step names the dependency, and says whether its registry could not be reached, refuses access, or does not have it"
        ),
        arguments: [
            (
                """
                npm error code EAI_AGAIN
                npm error request to https://registry.npmjs.org/@acme%2fkit failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org

                """, "@acme/kit", "registry.npmjs.org"
            ),
            (
                """
                WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError("HTTPSConnection(host='pypi.org', port=443): \
                Failed to establish a new connection: [Errno -3] Temporary failure in name resolution")': /simple/requests/
                ERROR: Could not find a version that satisfies the requirement requests>=2 (from versions: none)
                ERROR: No matching distribution found for requests>=2

                """, "requests>=2", "pypi.org"
            ),
            (
                """
                warning: spurious network error (1 tries remaining): [6] Could not resolve hostname (Could not resolve host: index.crates.io)
                error: failed to get `serde` as a dependency of package `kit v0.1.0 (/martlet/kit)`

                Caused by:
                  [6] Could not resolve hostname (Could not resolve host: index.crates.io)

                """, "serde", "index.crates.io"
            ),
            (
                """
                go: github.com/acme/kit@v1.2.3: Get "https://proxy.golang.org/github.com/acme/kit/@v/v1.2.3.mod": dial tcp: lookup \
                proxy.golang.org: no such host

                """, "github.com/acme/kit@v1.2.3", "proxy.golang.org"
            ),
            (
                """
                error: Failed to clone repository https://github.com/acme/swift-kit.git:
                    Cloning into bare repository '/martlet/kit/.build/repositories/x'...
                    fatal: unable to access 'https://github.com/acme/swift-kit.git/': Could not resolve host: github.com

                """, "swift-kit", "github.com"
            ),
            (
                "curl error 6 while downloading https://repo.packagist.org/packages.json: Could not resolve host: repo.packagist.org\n",
                "packages.json", "repo.packagist.org"
            ),
            (
                """
                Fetching source index from https://rubygems.org/
                Could not reach host index.rubygems.org. Check your network connection and try again.

                """, nil, "index.rubygems.org"
            ),
        ] as [(String, String?, String)])
    func testThatARegistryThatIsNotReachedIsNamed(output: String, dependency: String?, server: String) throws {
        let failure = try #require(found(output))
        #expect(failure == ResolveFailure(dependency: dependency, cause: .unreachable(server: server)))
        expectContains(
            failure.sentence, "could not be fetched: \(server) cannot be reached; see whether this machine reaches it")
    }

    @Test(
        .proves(
            .jobs,
            "A failed resolve step names the dependency, and says whether its registry could not be reached, refuses access, or does not have it"
        ),
        arguments: [
            (
                "npm ERR! 404 Not Found - GET https://registry.npmjs.org/left-padd - Not found\n"
                    + "npm ERR! 404  'left-padd@^1.0.0' is not in this registry.\n", "left-padd@^1.0.0"
            ),
            ("npm error notarget No matching version found for left-pad@^99.0.0.\n", "left-pad@^99.0.0"),
            (
                "ERROR: Could not find a version that satisfies the requirement foo==9 (from versions: 1.0)\n"
                    + "ERROR: No matching distribution found for foo==9\n", "foo==9"
            ),
            ("error: no matching package named `serdee` found\nlocation searched: crates.io index\n", "serdee"),
            (
                "error: failed to select a version for the requirement `serde = \"^99\"`\ncandidate versions found which didn't match: 1.0.0\n",
                "serde = \"^99\""
            ),
            (
                "go: github.com/acme/none@v1.0.0: reading https://proxy.golang.org/github.com/acme/none/@v/v1.0.0.mod: 404 Not Found\n",
                "github.com/acme/none@v1.0.0"
            ),
            (
                "error: Dependencies could not be resolved because no versions of 'swift-nio' match the requirement 99.0.0..<100.0.0\n",
                "swift-nio"
            ),
            (
                "  Problem 1\n    - Root composer.json requires acme/none ^1.0, it could not be found in any version, there may be a typo.\n",
                "acme/none"
            ),
            (
                "Could not find gem 'rake (~> 99)' in rubygems repository https://rubygems.org/ or installed locally.\n",
                "rake (~> 99)"
            ),
        ])
    func testThatADependencyThatARegistryDoesNotHaveIsNamed(output: String, dependency: String) throws {
        let failure = try #require(found(output))
        #expect(failure == ResolveFailure(dependency: dependency, cause: .missing))
        expectContains(
            failure.sentence,
            "the dependency \(dependency) could not be fetched: its registry answers, but has no such package or version"
        )
        expectContains(failure.sentence, "correct the name or the version")
    }

    @Test(arguments: [
        "npm error code E401\nnpm error request to https://npm.acme.example/@acme%2fkit failed, reason: 401 Unauthorized\n",
        "fatal: Authentication failed for 'https://git.acme.example/kit.git/'\n",
    ])
    func testThatARegistryThatRefusesSaysSo(output: String) throws {
        let failure = try #require(found(output))
        #expect(failure.cause == .refused)
        expectContains(failure.sentence, "refuses access; give the step credentials by `secrets`")
    }

    @Test(arguments: [
        "", "error: x\n", "npm error a script failed\n", "Segmentation fault\n", "go: updates to go.mod needed\n",
    ])
    func testThatOtherFailuresHaveNone(output: String) {
        #expect(found(output) == nil)
    }

    /// A job can print any text.
    @Test func testThatLongLinesAreCut() throws {
        let output = String(repeating: "requires a/a ", count: 100_000) + "\n" + String(repeating: "x\n", count: 10_000)
        #expect(found(output) == nil)
        let name = String(repeating: "a", count: 900)
        #expect(try #require(found("error: no matching package named `\(name)` found\n")).dependency?.count ?? 0 <= 900)
    }
}
