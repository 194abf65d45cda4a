import Model
import TestSupport
import Testing

@testable import Reports

@Suite struct LockFileTests {
    /// Returns `URI ALGORITHM:FIRST DIGITS…` for each package.
    private static func words(_ packages: [LockedPackage]) -> [String] {
        packages.map { package in
            ([package.uri] + package.digest.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value.prefix(8))" })
                .joined(separator: " ")
        }
    }

    private static func pins(_ text: String, _ name: String) -> LockFile.Pins {
        LockFile.pins(in: Array(text.utf8), called: name)
    }

    @Test(
        .proves(
            .releases,
            "Versions: `provenance.json` is an in-toto statement with the SLSA v1 predicate in a DSSE envelope, with digests of every input"
        ),
        arguments: [
            (
                "package-lock.json",
                [
                    "pkg:npm/%40babel/code-frame@7.24.2 sha512:4d888033",
                    "pkg:npm/picocolors@1.0.0 sha1:ef7b5cd2 sha512:a884e5bb",
                    "pkg:npm/js-tokens@4.0.0 sha512:7c8bcd05",
                ]
            ),
            (
                "npm-shrinkwrap.json",
                [
                    "pkg:npm/jsonstream@1.3.5 sha512:951d4d2a",
                    "pkg:npm/js-tokens@4.0.0 sha512:7c8bcd05",
                    "pkg:npm/jsonparse@1.3.1 sha1:5c9bd5a0",
                ]
            ),
            (
                "yarn.lock",
                [
                    "pkg:npm/%40babel/code-frame@7.8.3 sha512:4d888033",
                    "pkg:npm/abbrev@1.1.1 sha1:770b7e96",
                    "pkg:npm/js-tokens@4.0.0 sha512:7c8bcd05",
                    "pkg:npm/fork@2.0.0 sha1:eeeeeeee",
                ]
            ),
            (
                "pnpm-lock.yaml",
                [
                    "pkg:npm/%40babel/code-frame@7.24.2 sha512:4d888033",
                    "pkg:npm/js-tokens@4.0.0 sha512:7c8bcd05",
                ]
            ),
            (
                "Cargo.lock",
                [
                    "pkg:cargo/itoa@1.0.11 sha256:a0a7eb79",
                    "pkg:cargo/serde_json@1.0.117%2Ba sha256:54445c66",
                ]
            ),
            (
                "go.sum",
                [
                    "pkg:golang/github.com/burntsushi/toml@v1.3.2 dirHash:bf0a9022",
                    "pkg:golang/github.com/docker/docker@v24.0.7%2Bincompatible dirHash:d548c5b8",
                ]
            ),
            (
                "poetry.lock",
                [
                    "pkg:pypi/markupsafe@2.1.5?filename=MarkupSafe-2.1.5-cp312-cp312-manylinux_2_17_x86_64.whl sha256:348c1298",
                    "pkg:pypi/markupsafe@2.1.5?filename=MarkupSafe-2.1.5.tar.gz sha256:f8eacd22",
                    "pkg:pypi/jinja2@3.1.4?filename=jinja2-3.1.4-py3-none-any.whl sha256:c34aaa3c",
                ]
            ),
            (
                "uv.lock",
                [
                    "pkg:pypi/typing-extensions@4.12.2?filename=typing_extensions-4.12.2.tar.gz sha256:c0a635bd",
                    "pkg:pypi/typing-extensions@4.12.2?filename=typing_extensions-4.12.2-py3-none-any.whl sha256:f8fd8e84",
                ]
            ),
            (
                "Pipfile.lock",
                [
                    "pkg:pypi/requests@2.32.3 sha256:64bf360c",
                    "pkg:pypi/requests@2.32.3 sha256:ec72420d",
                    "pkg:pypi/pytest@8.2.2 sha256:2b01214d",
                ]
            ),
            (
                "requirements.txt",
                [
                    "pkg:pypi/certifi@2024.7.4 sha256:2288e465",
                    "pkg:pypi/certifi@2024.7.4 sha256:78ae46fa",
                    "pkg:pypi/typing-extensions@4.12.2 sha256:f8fd8e84",
                ]
            ),
            (
                "Gemfile.lock",
                [
                    "pkg:gem/nokogiri@1.16.6?platform=x86_64-linux sha256:bf2e1acf",
                    "pkg:gem/racc@1.8.0 sha256:fd805524",
                ]
            ),
            (
                "composer.lock",
                [
                    "pkg:composer/monolog/monolog@3.7.0 gitCommit:bd1b614c",
                    "pkg:composer/acme/kit@dev-feature%2Fa sha1:b17eb192",
                    "pkg:composer/phpunit/phpunit@11.2.8 gitCommit:cd00448f",
                ]
            ),
            (
                "Package.resolved",
                [
                    "git+https://git.acme.example/swift-log.git gitCommit:d5b43e66",
                    "pkg:swift/acme.kit@1.4.0",
                ]
            ),
        ])
    func testThatWhatALockFilePinsIsAnInputWithItsDigest(name: String, expected: [String]) throws {
        let pins = LockFile.pins(in: try Samples.bytes("Locks/" + name + ".sample"), called: name)
        #expect(Self.words(pins.packages) == expected)
        #expect(pins.problem == nil)
        #expect(pins.dropped == 0)
        // Digests are complete, and in lower case.
        let lengths = ["sha1": 40, "sha256": 64, "sha512": 128, "dirHash": 64, "gitCommit": 40]
        for (algorithm, digest) in pins.packages.flatMap(\.digest) {
            #expect(digest.count == lengths[algorithm], "\(algorithm)")
            #expect(digest == digest.lowercased())
        }
    }

    /// The samples do not have the files' own names, because tools and git would treat them as a project's own.
    @Test func testThatEveryKindOfLockFileHasASample() throws {
        #expect(LockFile.names.count == 13)
        for name in LockFile.names { #expect(!(try Samples.bytes("Locks/" + name + ".sample")).isEmpty) }
        #expect(Self.pins("{}", "README.md") == LockFile.Pins())
    }

    @Test func testThatAPackageIsCalledAsItsToolCallsIt() throws {
        let go = LockFile.pins(in: try Samples.bytes("Locks/go.sum.sample"), called: "go.sum")
        #expect(go.packages.map(\.name) == ["github.com/BurntSushi/toml", "github.com/docker/docker"])
    }

    private static let zeros = "sha512-" + String(repeating: "A", count: 86) + "=="
    private static let digest = String(repeating: "aB", count: 32)

    @Test(arguments: [
        // pnpm 5 and 6
        (
            "pnpm-lock.yaml",
            "lockfileVersion: 5.4\npackages:\n\n  /@a/b/1.0.0_react@17.0.0:\n    resolution: {integrity: \(zeros), tarball: x}\n",
            ["pkg:npm/%40a/b@1.0.0 sha512:00000000"]
        ),
        (
            "pnpm-lock.yaml",
            "lockfileVersion: '6.0'\r\npackages:\r\n  /b@1.0.0(react@17.0.0):\r\n    resolution:\r\n      integrity: \(zeros)\r\n",
            ["pkg:npm/b@1.0.0 sha512:00000000"]
        ),
        // Cargo's first version, and poetry's before 1.3
        (
            "Cargo.lock",
            "[metadata]\n\"checksum itoa 0.4.5 (registry+https://index.acme.example)\" = \"\(digest)\"\n",
            ["pkg:cargo/itoa@0.4.5 sha256:abababab"]
        ),
        (
            "poetry.lock",
            "[[package]]\nname = \"six\"\nversion = \"1.15.0\"\n\n[metadata.files]\nsix = [\n    {file = \"six-1.15.0.tar.gz\", hash = \"sha256:\(digest)\"},\n]\n",
            ["pkg:pypi/six@1.15.0?filename=six-1.15.0.tar.gz sha256:abababab"]
        ),
        // A source outside of a registry is not shown, because its address may contain a token.
        (
            "pnpm-lock.yaml",
            "lockfileVersion: '9.0'\npackages:\n  a@https://u:TOKEN@h/a.tgz:\n    resolution: {integrity: \(zeros)}\n",
            []
        ),
        ("yarn.lock", "\"a@^1\":\n  version \"https://u:TOKEN@h/a\"\n  integrity \(zeros)\n", []),
        // A value that is no digest, or is cut.
        ("yarn.lock", "a@1:\n  version \"1.0.0\"\n  integrity sha512-AAAA\n", []),
        ("yarn.lock", "a@1:\n  version \"1.0.0\"\n  integrity \(zeros.dropLast(9))", []),
        ("go.sum", "a v1.0.0 h2:\(String(repeating: "A", count: 43))=\n\n//\n v1 h1:\n", []),
        (
            "Gemfile.lock",
            "CHECKSUMS\n  a (1.0) sha256=\(String(repeating: "z", count: 64))\n  b 1.0 sha256=\(digest)\n  c () sha256=\(digest)\n",
            []
        ),
        // Lines in another section, or in a table within the package's.
        ("Gemfile.lock", "GEM\n  specs:\n    a (1.0) sha256=\(digest)\n", []),
        ("pnpm-lock.yaml", "lockfileVersion: '9.0'\nother:\n  a@1.0.0:\n    resolution: {integrity: \(zeros)}\n", []),
        ("Cargo.lock", "[[patch.unused]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"\(digest)\"\n", []),
        ("Cargo.lock", "\"checksum a 1.0.0\n\"checksum \n", []),
        (
            "uv.lock",
            "[[package]]\nname = \"a\"\nversion = \"1\"\ndependencies = [\n    { name = \"b\", version = \"2\" },\n]\n"
                + "sdist = { url = \"https://h/a-1%2Bc.tar.gz?x\", hash = \"sha256:\(digest)\" }\n",
            ["pkg:pypi/a@1?filename=a-1%2Bc.tar.gz sha256:abababab"]
        ),
        // A range, a comment, and a requirement on the platform.
        (
            "Pipfile.lock", "{\"default\": {\"a\": {\"version\": \">=1\", \"hashes\": [\"sha256:\(digest)\"]}}}", []
        ),
        ("requirements.txt", "a==1 # --hash=sha256:\(digest)\n", []),
        (
            "requirements.txt", "a==1;python_version<'4' --hash=sha256:\(digest)\n",
            ["pkg:pypi/a@1 sha256:abababab"]
        ),
        ("requirements.txt", "a==1 --hash=sha256:12\n==1 --hash=sha256:\(digest)\n--hash=sha256:\(digest)\n", []),
        (
            "package-lock.json",
            "{\"packages\": {\"node_modules/\": {\"version\": \"1\", \"integrity\": \"\(zeros)\"}}}", []
        ),
        ("package-lock.json", "{\"packages\": [], \"dependencies\": {\"a\": 7, \"b\": {\"version\": {}}}}", []),
        (
            "composer.lock",
            "{\"packages\": {\"a\": 1}, \"packages-dev\": [null, 7, {\"name\": \"a//b\", "
                + "\"version\": \"1\", \"dist\": {\"shasum\": \"\(digest.prefix(40))\"}}]}", []
        ),
    ])
    func testThatOtherVersionsAreReadAndWhatIsNoPinIsNone(name: String, text: String, expected: [String]) {
        let pins = Self.pins(text, name)
        #expect(Self.words(pins.packages) == expected)
        #expect(pins.problem == nil)
    }

    @Test(
        .proves(
            .releases,
            "Versions: `provenance.json` is an in-toto statement with the SLSA v1 predicate in a DSSE envelope, with digests of every input"
        ))
    func testThatAMalformedFileSaysSo() {
        for name in ["package-lock.json", "Pipfile.lock", "composer.lock", "Package.resolved"] {
            for text in ["", "no JSON", "{\"packages\": {", String(repeating: "[", count: 5000)] {
                let pins = Self.pins(text, name)
                #expect(pins.packages.isEmpty)
                #expect(pins.problem?.isEmpty == false, "\(name): \(text.prefix(20))")
            }
        }
        let berry = Self.pins("__metadata:\n  version: 8\n\n\"a@npm:^1\":\n  checksum: 10c0/ab\n", "yarn.lock")
        #expect(berry.problem == "yarn 2 and later write digests of archives that yarn makes itself")
    }

    @Test func testThatAPinCountsOnceAndTooManyAreCounted() {
        // given
        let line = { (number: Int) in "a v1.0.\(number) h1:\(String(repeating: "A", count: 43))=\n" }
        let twice = Self.pins(line(1) + line(1), "go.sum")
        #expect(twice.packages.count == 1 && twice.dropped == 0)

        // when
        let pins = Self.pins((0..<LockFile.maximumPins + 3).map(line).joined(), "go.sum")

        // then
        #expect(pins.packages.count == LockFile.maximumPins)
        #expect(pins.dropped == 3)
    }

    @Test(
        .proves(
            .releases,
            "Versions: `provenance.json` is an in-toto statement with the SLSA v1 predicate in a DSSE envelope, with digests of every input"
        ),
        arguments: [
            (
                "{\"version\":1,\"object\":{\"pins\":[{\"package\":\"Lib\",\"repositoryURL\":\"https://h/lib\",\"state\":{\"revision\":\"\(String(repeating: "a", count: 40))\"}}]}}",
                ["git+https://h/lib gitCommit:aaaaaaaa"]
            ),
            (
                "{\"pins\":[{\"location\":\"https://x:TOKEN@h/lib\",\"state\":{\"revision\":\"a\"}},{\"location\":\"ssh://git@h/l@b\",\"state\":{\"revision\":\"b\"}},"
                    + "{\"location\":\"https://TOKEN@h\",\"state\":{\"revision\":\"c\"}},{\"location\":\"https://h/\\n\",\"state\":{\"revision\":\"d\"}}]}",
                ["git+https://h/lib", "git+ssh://git@h/l@b", "git+https://h"]
            ),
            ("{\"pins\":[]}", []),
        ])
    func testThatPinsOfEachVersionOfSwiftPMAreInputsWithoutSecrets(text: String, expected: [String]) {
        let pins = Self.pins(text, "Package.resolved").packages
        #expect(Self.words(pins) == expected)
        #expect(!pins.contains { $0.name.contains("TOKEN") })
    }
}
