import API
import Model

extension API.Bot {
    /// A remark about its repository; `nil` if there is none.
    var remark: String? {
        if let lookError { return "the repository needs attention: \(lookError)" }
        return empty && latest == nil ? "the repository is empty; push a commit to it" : nil
    }
}

extension API.Integration {
    /// The integration's name, such as `kit#41`.
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
    /// The word for a table: the result, or the current step.
    var outcome: String { skipped ? "skipped" : result ?? (state == "queued" ? "queued" : step) }
}

extension API.Summary {
    /// A sentence such as `12 tests in 2 configurations, 1 fails, 1 warning (−1)`. Counts that are zero and unchanged are left out.
    var sentence: String {
        var parts: [String] = []
        func add(_ count: Int, _ change: Int, _ words: String, always: Bool = false) {
            guard always || count != 0 || change != 0 else { return }
            parts.append(words + (change == 0 ? "" : " (\(change > 0 ? "+" : "−")\(abs(change)))"))
        }
        if let tally {
            parts.append(tally.says)
        } else {
            // `no tests listed` instead of `0 tests`: usually tests ran, but no report listed them.
            add(tests, testsChange, tests == 0 ? "no tests listed" : tests.counting("test"), always: true)
            add(testFailures, testFailuresChange, "\(testFailures) failing")
            add(flakyTests, flakyTestsChange, "\(flakyTests) flaky")
        }
        add(errors, errorsChange, errors.counting("error"))
        add(warnings, warningsChange, warnings.counting("warning"))
        add(analyzerWarnings, analyzerWarningsChange, analyzerWarnings.counting("analyzer warning"))
        return parts.joined(separator: ", ")
    }
}

extension API.TriggerRun {
    /// The result of the trigger, or its progress.
    var words: String { reason ?? upload?.text ?? "" }
}
