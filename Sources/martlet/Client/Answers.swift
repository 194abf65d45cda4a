import Model

/// The parts of the daemon's JSON that commands print. Other members are not declared.
struct List<Item: Decodable>: Decodable {
    var items: [Item]
    var next: String?
}

struct BotAnswer: Decodable {
    var name: String
    var repository: String
    var latest: IntegrationAnswer?
    var lookError: String?
    /// Whether nobody has pushed to the repository yet.
    var empty: Bool
    /// The schedule in words, and the time of its next integration.
    var schedule: String?
    var nextScheduled: String?

    /// A remark about its repository; `nil` if there is none.
    var remark: String? {
        if let lookError { return "the repository needs attention: \(lookError)" }
        return empty && latest == nil ? "the repository is empty; push a commit to it" : nil
    }
}

struct IntegrationAnswer: Decodable {
    struct Configuration: Decodable {
        struct Step: Decodable {
            var step: String
            var name: String
            var duration: Double?
            var exit: Int?
            var signal: Int?
            var limit: String?
        }
        struct Attempt: Decodable {
            var attempt: Int
            var state: String
            var verdict: String?
            var reason: String?
        }
        var name: String
        var attempt: Int
        var testFilter: String?
        var attempts: [Attempt]?
        var state: String
        var verdict: String?
        var reason: String?
        var analysis: String?
        var tested: String?
        var isolation: String?
        var isolationReason: String?
        var notes: [String]?
        var steps: [Step]
    }
    var bot: String
    var number: Int
    var commit: String
    var ref: String
    var cause: String
    var requestedBy: String?
    var subject: String?
    /// The recognized type of project and the file that it was recognized by.
    var project: String?
    var state: String
    var step: String
    var verdict: String?
    var result: String?
    var reason: String?
    var queued: String?
    var started: String?
    var ended: String?
    var summary: SummaryAnswer?
    var configurations: [Configuration]?
    var run: Int?
    /// The notes in the answer to a rerun.
    var notes: [String]?

    /// The pull request that was integrated.
    struct PullRequest: Decodable {
        var number: Int
        var trusted: Bool
        var approvedBy: String?
        var unmerged: String?
    }
    var pullRequest: PullRequest?
    var base: String?
    var head: String?

    var id: String { "\(bot)#\(number)" }
    /// The text that `show` prints about the pull request; `nil` for a branch.
    var pullText: String? {
        guard let pullRequest, let base, let head else { return nil }
        let whose = pullRequest.trusted ? "" : ", a fork's"
        let approved = pullRequest.approvedBy.map { ", approved by \($0)" } ?? ""
        let what = "\(bot)!\(pullRequest.number) into \(RefName(base).shortName), head \(head.prefix(12))"
        let lines = ["\(what)\(whose)\(approved)"] + (pullRequest.unmerged.map { [$0] } ?? [])
        return lines.map { Output.visible($0) + "\n" }.joined()
    }
    var shortRef: String {
        if let pullRequest { return "!\(pullRequest.number)" }
        for prefix in ["refs/heads/", "refs/tags/"] where ref.hasPrefix(prefix) {
            return String(ref.dropFirst(prefix.count))
        }
        return ref
    }
    /// Whether the integration was skipped; `nil` from a daemon of another version.
    var skipped: Bool?
    /// The word for a table: the result, or the current step.
    var outcome: String { skipped == true ? "skipped" : result ?? (state == "queued" ? "queued" : step) }
}

struct SummaryAnswer: Decodable {
    var errors: Int
    var warnings: Int
    var analyzerWarnings: Int
    var testFailures: Int
    var tests: Int
    var errorsChange: Int
    var warningsChange: Int
    var analyzerWarningsChange: Int
    var testFailuresChange: Int
    var testsChange: Int
    var flakyTests: Int
    var flakyTestsChange: Int

    /// A sentence such as `12 tests, 1 failing (+1), 1 warning (−1)`. Counts that are zero and unchanged are left out.
    var sentence: String {
        var parts: [String] = []
        func add(_ count: Int, _ change: Int, _ words: String, always: Bool = false) {
            guard always || count != 0 || change != 0 else { return }
            parts.append(words + (change == 0 ? "" : " (\(change > 0 ? "+" : "−")\(abs(change)))"))
        }
        // `no tests listed` instead of `0 tests`: usually tests ran, but no report listed them.
        add(tests, testsChange, tests == 0 ? "no tests listed" : tests.counting("test"), always: true)
        add(testFailures, testFailuresChange, "\(testFailures) failing")
        add(flakyTests, flakyTestsChange, "\(flakyTests) flaky")
        add(errors, errorsChange, errors.counting("error"))
        add(warnings, warningsChange, warnings.counting("warning"))
        add(analyzerWarnings, analyzerWarningsChange, analyzerWarnings.counting("analyzer warning"))
        return parts.joined(separator: ", ")
    }
}

struct IssueAnswer: Decodable {
    struct Introduction: Decodable {
        var commit: String
        var author: String
        var strategy: String
        var confidence: String
    }
    struct Silence: Decodable {
        var reason: String
        var person: String
        var expires: String?
        var expired: Bool
    }
    var fingerprint: String
    var category: String
    var status: String
    var age: Int
    var since: Int?
    var introducedBy: Introduction?
    var silence: Silence?
    var message: String
    var path: String?
    var line: Int?
    var column: Int?
    var configurations: [String]
}

struct TestAnswer: Decodable {
    var suite: String
    var name: String
    var configuration: String
    var outcome: String
    var duration: Double?
    var message: String?
}

/// The archived files of an integration.
struct ArtifactsAnswer: Decodable {
    var items: [ArtifactAnswer]
    /// The reason why nothing is archived; `nil` if files are archived, or from an older daemon.
    var notArchived: String?
}

struct ArtifactAnswer: Decodable {
    var configuration: String?
    var path: String
    var size: Int64
    var sha256: String
    var url: String
}

struct TriggerAnswer: Decodable {
    var name: String
    var attempt: Int
    var state: String
    var reason: String?
    var upload: Upload?

    struct Upload: Decodable {
        var text: String
    }

    /// The result of the trigger, or its progress.
    var words: String { reason ?? upload?.text ?? "" }
}

struct VersionAnswer: Decodable {
    struct File: Decodable {
        var path: String
        var size: Int64
        var sha256: String
        var url: String
    }
    var product: String
    var version: String
    var published: String?
    var commit: String
    var ref: String
    var integration: String?
    var yanked: Bool
    var files: [File]
}

struct TokenAnswer: Decodable {
    var name: String
    var role: String
    var created: String?
    var revoked: String?
    /// Only in the answer that creates the token.
    var secret: String?
}
