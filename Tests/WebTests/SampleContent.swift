import Basics
import JobProtocol
import Model
import Releases
import Storage
import TestSupport
import Testing

@testable import Web

/// A store with three integrations of one bot, as after a first evening: red, fixed, released.
struct SampleContent: Sendable {
    static let kit = Name(nearest: "kit")
    static let debug = Name(nearest: "debug")
    static let release = Name(nearest: "release")
    static let repository = "https://git.example/acme/kit.git"
    static let commits = ["1", "2", "3"].compactMap { CommitID(String(repeating: $0, count: 40)) }

    let web: WebFixture
    /// Whether the test step leaves a report. Without one only its exit status is known.
    var hasReports = true
    /// Whether warnings are muted, and a step that does not count fails.
    var isSilenced = false
    /// The project's type; without one, the recipe's configurations have no command that could run chosen tests.
    var projectType: ProjectType?

    var start: Timestamp { WebFixture.now + .seconds(-3600) }

    func fill() async throws {
        let store = web.store
        try await store.register([BotSpecification(name: Self.kit, repository: Self.repository)], at: start)
        _ = try await integrate(0, ref: "main", failing: ["parsesAnEmptyLine()"], warnings: 2, before: nil)
        _ = try await integrate(1, ref: "main", failing: [], warnings: 1, before: 1)
        let released = try await integrate(2, ref: "release/1.0", failing: [], warnings: 0, before: nil)
        try await publish("1.0.0", by: released)
    }

    /// Returns a configuration with a step that asks for secrets; the usual steps if there are none.
    private static func configuration(_ name: Name, _ secrets: [String]) -> Recipe.Configuration {
        var configuration = Recipe.Configuration(name: name)
        guard !secrets.isEmpty else { return configuration }
        let command = Recipe.Command(run: "./deploy", secrets: secrets)
        configuration.steps = [Recipe.Step(name: Name(nearest: "deploy"), kind: .testing, command: command)]
        return configuration
    }

    /// Takes an integration through all its states.
    func integrate(
        _ index: Int, ref branch: String, failing: [String], warnings: Int, before: Int?,
        secrets: [String] = []
    ) async throws -> IntegrationRecord {
        let store = web.store
        let at = start + .seconds(Int64(index) * 600)
        let ref = RefName(branch: branch)
        let record = try await store.queue(
            NewIntegration(bot: Self.kit, ref: ref, commit: Self.commits[index], cause: .push), at: at)
        let id = record.id
        _ = try await store.apply(.started, to: id, at: at + .seconds(1))
        let configurations = [Self.debug, Self.release]
        let subjects = [
            "Read the header before the body", "Skip empty lines instead of trapping on them", "Say what 1.0 is",
        ]
        _ = try await store.recordPreparation(
            of: id,
            Store.Preparation(
                recipe: Recipe(
                    configurations: configurations.map { Self.configuration($0, secrets) }, projectType: projectType),
                commit: CommitSummary(
                    subject: subjects[index], author: "Ada Okafor", committedAt: at,
                    tree: String(repeating: "e", count: 40))),
            at: at + .seconds(1))
        _ = try await store.apply(.entered(.running), to: id, at: at + .seconds(2))
        let counts = try await jobs(of: id, configurations, at: at + .seconds(2), failing: failing, warnings: warnings)
        try await store.completeIssues(
            of: id, issues: issues(failing: failing, warnings: warnings, hadTwo: before != nil),
            summary: Summary(counts: counts, change: change(before != nil)), at: at + .seconds(40))
        let verdict: Verdict = !failing.isEmpty ? .testFailures : warnings > 0 ? .warnings : .succeeded
        return try await store.apply(.completed(verdict, triggerFailed: false), to: id, at: at + .seconds(41))
    }

    private func jobs(
        of id: IntegrationID, _ configurations: [Name], at: Timestamp, failing: [String], warnings: Int
    ) async throws -> Counts {
        var counts = Counts()
        for (place, configuration) in configurations.enumerated() {
            let attempt = try await web.store.addAttempt(to: id, job: configuration, at: at)
            let begin = at + .seconds(Int64(place) * 18)
            try await steps(of: attempt.id, at: begin, isRed: !failing.isEmpty)
            counts = Counts()
            (counts.warnings, counts.testFailures, counts.tests) = (warnings, failing.count, hasReports ? 12 : 0)
            let results = AttemptResults(
                tests: hasReports ? tests(failing: failing) : [], artifacts: try artifacts(of: attempt.id),
                counts: counts,
                analysis: warnings > 0 ? warnings.counting("finding") : "clean",
                tested: hasReports ? "12 tests" : "by exit status alone: the command writes no report",
                verdict: !failing.isEmpty ? .testFailures : isSilenced && warnings > 0 ? .warnings : .succeeded)
            try await web.store.storeResults(results, of: attempt.id, at: begin + .seconds(17))
            try log(of: attempt.id)
        }
        return counts
    }

    private func steps(of attempt: AttemptID, at begin: Timestamp, isRed: Bool) async throws {
        let steps: [(JobStep, String, Int64, Int64)] = [
            (.analyzing, "swift format lint --recursive .", 0, 1200),
            (.building, "swift build --build-tests", 1200, 11_400), (.testing, "swift test --skip-build", 12_600, 2100),
            (.archiving, "archive products", 14_700, 1900),
        ]
        for (index, step) in steps.enumerated() {
            try await web.store.apply(
                .entered(step.0), to: attempt, at: begin + .milliseconds(step.2),
                isolation: .none(reason: "bwrap is not installed"))
            let failed = isRed && step.0 == .testing || isSilenced && step.0 == .analyzing
            try await web.store.record(
                step: StepRecord(
                    index: index, step: step.0, name: step.1, startedAt: begin + .milliseconds(step.2),
                    endedAt: begin + .milliseconds(step.2 + step.3), exit: failed ? 1 : 0), of: attempt)
        }
        try await web.store.apply(.ended, to: attempt, at: begin + .seconds(17))
    }

    private func tests(failing: [String]) -> [TestResult] {
        let names = ["parsesAHeader()", "parsesAnEmptyLine()", "keepsOrder()", "roundTrips()"]
        var results = ["KitTests.ParserTests", "KitTests.WriterTests", "KitTests.PathTests"].flatMap { suite in
            names.map { name in
                let isRed = failing.contains(name) && suite.hasSuffix("ParserTests")
                return TestResult(
                    suite: suite, name: name, outcome: isRed ? .failed : .passed, duration: .milliseconds(12),
                    message: isRed ? "Expectation failed: (lines.count → 3) == 2" : nil,
                    path: isRed ? "Tests/KitTests/ParserTests.swift" : nil, line: isRed ? 41 : nil)
            }
        }
        results[11].outcome = .skipped
        return results
    }

    /// Returns the archived files of the release configuration, at the paths of `ProductArchiver`.
    private func artifacts(of attempt: AttemptID) throws -> [Artifact] {
        guard attempt.job == Self.release else { return [] }
        let files: [(String, Name?, Int)] = [
            ("kit-1.0.0-source.tar.gz", nil, 18_211),
            ("kit-1.0.0-release-x86_64-unknown-linux-gnu.tar.zst", Self.release, 241_172),
        ]
        return try files.map { name, configuration, size in
            let bytes = Array(Self.content.prefix(size))
            try web.directory.write(Self.place(of: attempt) + "archives/" + name, bytes)
            return Artifact(
                configuration: configuration, path: name, size: ByteCount(Int64(size)),
                sha256: Digest.sha256(of: bytes))
        }
    }

    /// The content of the archives. It is made once, since a debug build takes 30 ms for it.
    private static let content = (0..<241_172).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

    private static func place(of attempt: AttemptID) -> String {
        "state/integrations/\(attempt.integration.bot)/\(attempt.integration.number)/\(attempt.job)/\(attempt.attempt)/"
    }

    private func issues(failing: [String], warnings: Int, hadTwo: Bool) -> [Model.Issue] {
        let all: [Finding] = [
            Finding(
                category: .warning, message: "variable 'count' was never mutated; consider changing to 'let' constant",
                path: "Sources/Kit/Parser.swift", line: 27, column: 9),
            Finding(
                category: .analyzerWarning, message: "remove the trailing space", rule: "TrailingWhitespace",
                path: "Sources/Kit/Writer.swift", line: 12, column: 44),
        ]
        var issues: [Model.Issue] = all.enumerated().map { index, finding in
            let isThere = index < warnings
            let status: Model.Issue.Status = isThere ? (hadTwo ? .unresolved : .new) : .resolved
            return Model.Issue(
                fingerprint: String(repeating: "\(index)", count: 64), status: status, finding: finding,
                age: isThere ? (hadTwo ? 2 : 1) : 0, configurations: [Self.debug, Self.release])
        }
        issues += failing.map { (name) -> Model.Issue in
            Model.Issue(
                fingerprint: String(repeating: "f", count: 64), status: .new,
                finding: Finding(
                    category: .testFailure, message: "Expectation failed: (lines.count → 3) == 2",
                    rule: "KitTests.ParserTests/\(name)", path: "Tests/KitTests/ParserTests.swift", line: 41), age: 1,
                since: 1, configurations: [Self.debug],
                introducedBy: CommitID(String(repeating: "1", count: 40)).map {
                    Introduction(
                        commit: $0, author: "Ada <Author>", email: "ada@acme.example",
                        strategy: .blameLineAgainstCommits, confidence: .high)
                })
        }
        if isSilenced {
            for index in issues.indices where issues[index].status != .resolved { issues[index].status = .silenced }
        }
        return issues.filter { hadTwo || $0.status != .resolved }
    }

    private func change(_ isSecond: Bool) -> Counts {
        var change = Counts()
        if isSecond { (change.warnings, change.testFailures) = (-1, -1) }
        return change
    }

    private func log(of attempt: AttemptID) throws {
        let parts = [
            "Sources/Kit/Writer.swift:12:44: \u{1B}[33mwarning:\u{1B}[0m [TrailingWhitespace] remove the trailing space\n",
            "Building for debugging...\n[1/7] Compiling Kit Parser.swift\n[7/7] Linking KitPackageTests.xctest\n"
                + "Build complete! (11.02s)\n",
            "◇ Test run started.\n\u{1B}[32m✔\u{1B}[0m Test \"keepsOrder()\" passed after 0.012 seconds.\n",
            "kit-1.0.0-source.tar.gz\n",
        ]
        var (log, index, line) = ([UInt8](), [UInt8](), UInt32(1))
        for (step, part) in parts.enumerated() {
            index += LogIndexRecord(
                offset: UInt64(log.count), millisecondsSinceEpoch: 1_772_366_400_000, firstLine: line,
                step: UInt16(step), flags: []
            ).bytes()
            log += Array(part.utf8)
            line += UInt32(part.utf8.count { $0 == UInt8(ascii: "\n") })
        }
        let place = Self.place(of: attempt)
        try web.directory.write(place + "log", log)
        try web.directory.write(place + "log.index", index)
    }

    /// Publishes a version with two files and a manifest on the disk.
    func publish(
        _ version: String, by record: IntegrationRecord, product: Name = SampleContent.kit,
        files: [String: [UInt8]] = ["kit-source.tar.gz": Array("source".utf8), "page.html": Array("<p>".utf8)],
        registry: PackageIdentifier? = nil, repository: String? = SampleContent.repository,
        signedBy key: SigningKey? = nil
    ) async throws {
        let version = try #require(SemanticVersion(version))
        _ = try await web.store.reserve(
            VersionRequest(
                product: product, integration: record.id, commit: record.commit, ref: record.ref,
                source: .exactly(version), onDisk: [], registry: registry), at: start)
        var staged: [StagedFile] = []
        for (name, bytes) in files.sorted(by: { $0.key < $1.key }) {
            let source = try web.directory.write("state/made/\(product)-\(version)/\(name)", bytes)
            staged.append(
                StagedFile(
                    source: source,
                    artifact: Artifact(
                        configuration: nil, path: name, size: ByteCount(Int64(bytes.count)),
                        sha256: Digest.sha256(of: bytes))))
        }
        let manifest = VersionManifest(
            product: product, version: version, integration: record.id, commit: record.commit, tree: "",
            ref: record.ref, publishedAt: WebFixture.now, files: staged.map(\.artifact), isolation: "none",
            registry: registry, repository: repository)
        let versions = try VersionStore(
            files: web.directory.path("state/files"), staging: web.directory.path("state/staging"))
        _ = try await versions.publish(
            try await versions.stage(
                manifest, files: staged,
                attestation: key.map { key in Attestation(provenance: Self.provenance(of: record), key: key) }))
        try await web.store.publish(
            PublishedVersion(
                product: product, version: version, integration: record.id, files: manifest.files,
                publishedAt: WebFixture.now, registry: registry, repository: repository), at: WebFixture.now)
    }

    private static func provenance(of record: IntegrationRecord) -> Provenance {
        Provenance(
            builder: "https://ci.acme.example", builderVersion: "0.1.0", startedAt: WebFixture.now,
            finishedAt: WebFixture.now, repository: "https://git.acme.example/kit.git", recipe: "{}",
            configuration: nil, toolchain: nil,
            inputs: [
                .init(uri: "git+https://git.acme.example/kit.git", digest: ["gitCommit": record.commit.description])
            ])
    }
}
