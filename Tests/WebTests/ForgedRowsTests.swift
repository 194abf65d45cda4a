import Foundation
import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// Foreign names and messages in the command line's output. None makes a row of its own, and none is shown in another order.
@Suite(
    .proves(
        .jobs,
        "Names and messages of others stay on one line and in order in commands' output, the daemon's log and messages")
)
struct ForgedRowsTests {
    /// A row in the format of `martlet integrations`, and characters that terminals obey or reorder.
    private static let row =
        "\nkit#9  main  99999999  succeeded  12 tests\r\n\u{1B}[1A\u{9B}2K\u{202E}\u{2066}\u{200F}\u{061C}\u{2028}\u{7F}\u{200B}"

    /// Stores an integration with a foreign text in every possible place.
    private func fill(_ web: WebFixture, with evil: String) async throws {
        let (store, at, kit) = (web.store, WebFixture.now + .seconds(-600), SampleContent.kit)
        try await store.register([BotSpecification(name: kit, repository: SampleContent.repository)], at: at)
        let record = try await store.queue(
            NewIntegration(
                bot: kit, ref: RefName(branch: "ma\(evil)in"), commit: SampleContent.commits[0], cause: .person,
                requestedBy: "ada\(evil)"), at: at)
        _ = try await store.apply(.started, to: record.id, at: at)
        _ = try await store.recordPreparation(
            of: record.id,
            Store.Preparation(
                recipe: Recipe(configurations: [Recipe.Configuration(name: SampleContent.debug)]),
                commit: CommitSummary(
                    subject: "Fix\(evil)", author: "Ada\(evil)", committedAt: at,
                    tree: String(repeating: "e", count: 40))),
            at: at)
        _ = try await store.apply(.entered(.running), to: record.id, at: at)
        let attempt = try await store.addAttempt(to: record.id, job: SampleContent.debug, at: at)
        try await store.apply(
            .entered(.testing), to: attempt.id, at: at, isolation: .none(reason: "bwrap\(evil) is missing"))
        try await store.record(
            step: StepRecord(
                index: 0, step: .testing, name: "unit\(evil)", startedAt: at, endedAt: at + .seconds(1), exit: 1),
            of: attempt.id)
        try await store.apply(.ended, to: attempt.id, at: at + .seconds(1))
        let place = "Sources/\(evil)Kit.swift"
        try await store.storeResults(
            AttemptResults(
                tests: [
                    TestResult(
                        suite: "Kit\(evil)Tests", name: "adds\(evil)", outcome: .failed, message: "no\(evil)",
                        path: place, line: 3)
                ], artifacts: [], counts: Counts(), analysis: "none\(evil)", tested: "1 test\(evil)",
                verdict: .testFailures),
            of: attempt.id, at: at + .seconds(1))
        try await store.completeIssues(
            of: record.id,
            issues: [
                Model.Issue(
                    fingerprint: String(repeating: "f", count: 64), status: .new,
                    finding: Finding(
                        category: .testFailure, message: "no\(evil)", rule: "Kit/adds\(evil)", path: place, line: 3),
                    age: 1, configurations: [SampleContent.debug],
                    introducedBy: Introduction(
                        commit: SampleContent.commits[0], author: "Ada\(evil)", email: "ada@acme.example",
                        strategy: .blameLine, confidence: .low))
            ], summary: Summary(), at: at + .seconds(1))
        try await store.recordTrigger(
            TriggerRecord(
                integration: record.id, trigger: Name(nearest: "tell"), attempt: 1, run: 1, phase: .after,
                state: .failed,
                reason: "tell failed\(evil)", startedAt: at, endedAt: at))
        _ = try await store.apply(.completed(.testFailures, triggerFailed: true), to: record.id, at: at + .seconds(2))
        _ = try await martlet(["silence", "kit#1", "ffffff", "--reason", "known\(evil.filter { $0 != "\n" })"], web)
    }

    private static let commands = [
        ["integrations"], ["integrations", "kit"], ["bots"], ["bot", "kit"], ["show", "kit#1"], ["issues", "kit#1"],
        ["tests", "kit#1"],
        ["tests", "kit#1", "--grid", "--all"], ["test", "kit", "adds"], ["flaky", "kit"], ["silences", "kit"],
        ["outbox"],
    ]

    /// - Returns: The output and the error messages of each command.
    private func printed(with evil: String, _ more: [String] = []) async throws -> [String] {
        let outputs = Locked<[String]>([])
        try await withWeb { web in
            try await fill(web, with: evil)
            for command in Self.commands {
                let result = try await martlet(command + more, web)
                outputs.withLock { $0.append(result.stdout + result.stderr) }
            }
        }
        return outputs.value
    }

    @Test func testThatAListingHasTheSameRowsWhateverIsInThem() async throws {
        // given
        let plain = try await printed(with: "")
        #expect(plain.allSatisfy { !$0.isEmpty })
        // when
        let forged = try await printed(with: Self.row)
        // then
        for (command, (plain, forged)) in zip(Self.commands, zip(plain, forged)) {
            let hidden = forged.unicodeScalars.filter { $0.isHiddenInText && $0 != "\n" }
            #expect(hidden.isEmpty, "\(command): \(hidden.map { String($0.value, radix: 16) })")
            #expect(
                forged.split(separator: "\n", omittingEmptySubsequences: false).count
                    == plain.split(separator: "\n", omittingEmptySubsequences: false).count, "\(command):\n\(forged)")
            #expect(!forged.split(separator: "\n").contains { $0.hasPrefix("kit#9") }, "\(command)")
        }
    }

    /// The only sequences are the command's own colors.
    @Test(.proves(.programs, "A hostile name never writes an escape sequence, also where results are colored"))
    func testThatColorsAddNoSequenceOfANames() async throws {
        for output in try await printed(with: Self.row, ["--color", "always"]) {
            let plain = output.replacing(/\u{1B}\[(0|1|2|31|32|33)m/, with: "")
            #expect(!plain.unicodeScalars.contains { $0.isHiddenInText && $0 != "\n" }, "\(plain)")
        }
    }

    /// Programs get every character, and a terminal that shows the JSON obeys none.
    @Test func testThatJSONHasNothingThatATerminalObeys() async throws {
        for output in try await printed(with: Self.row, ["--json"]) {
            #expect(!output.unicodeScalars.contains { $0.isHiddenInText && $0 != "\n" })
        }
    }
}
