import API
import Integrations
import Model
import SourceControl

/// The text that a run prints; it does not depend on the terminal.
enum RunReport {
    /// Returns lines such as `kit#7: main 1a2b3c4d5e6f and changes that are not committed, in /home/ann/kit`.
    static func beginning(_ beginning: RunBeginning) -> String {
        let snapshot = beginning.snapshot
        var what = snapshot.ref == RefName("HEAD") ? "" : snapshot.ref.shortName + " "
        switch snapshot.head {
        case let head? where snapshot.isChanged: what += "\(head.abbreviated) and changes that are not committed"
        case let head?: what += head.abbreviated
        case nil: what += (what.isEmpty ? "" : "without a commit, ") + "files that are not committed"
        }
        var lines = ["\(beginning.id): \(what), in \(beginning.root)"] + beginning.notes
        if let reason = beginning.isolation.reason { lines.append("isolation: none: \(reason)") }
        return lines.map { Output.visible($0) + "\n" }.joined()
    }

    /// Returns a finding in the format of compilers, so that editors and terminals can link to the place.
    /// - Parameter isCarried: Whether the finding is from the previous run, because this run did not get far enough to look for it.
    static func line(
        _ finding: Finding, in configurations: [Name], on terminal: Terminal, isCarried: Bool = false
    ) -> String {
        let place = [finding.path, finding.line.map(String.init), finding.column.map(String.init)].compactMap(\.self)
        let message = finding.message.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        let name = finding.category == .testFailure && !finding.rule.hasPrefix("martlet.") ? finding.rule + ": " : ""
        return Output.visible(place.isEmpty ? "" : place.joined(separator: ":") + ": ")
            + terminal.paint(result: finding.category.rawValue)
            + Output.visible(
                ": \(name)\(message)"
                    + (configurations.isEmpty ? "" : " [\(configurations.map(\.description).joined(separator: ", "))]")
                    + (isCarried ? " (found by the previous run; this run did not get that far)" : "")) + "\n"
    }

    static func line(_ test: TestResult, in configuration: Name, on terminal: Terminal) -> String {
        line(
            Finding(
                category: .testFailure, message: test.message ?? test.outcome.rawValue, rule: test.fullName,
                path: test.path, line: test.line), in: [configuration], on: terminal)
    }

    /// Returns `testing`, or `building: generate` if the step's own name adds information.
    static func words(_ step: JobStep, _ name: String) -> String {
        let usual: String? =
            switch step {
            case .building: "build"
            case .testing: "test"
            case .archiving: "archive"
            case .analyzing, .checkout, .processing: nil
            }
        return name == usual ? step.rawValue : "\(step.rawValue): \(name)"
    }

    /// Returns a text such as `debug testing 12 s, 34 passed, 1 failing`.
    static func progress(_ running: RunWatch.Running, at now: Timestamp) -> String {
        let seconds = max(0, (now.millisecondsSinceEpoch - running.since.millisecondsSinceEpoch) / 1000)
        var text = "\(running.configuration) \(words(running.step, running.name)) \(Output.duration(Double(seconds)))"
        if running.tests > 0 { text += ", \(running.tests - running.failing) passed" }
        if running.failing > 0 { text += ", \(running.failing) failing" }
        return text
    }

    /// Returns whether an issue was printed while the step ran. The console output of Swift Testing has no suite names.
    static func wasReported(_ issue: Model.Issue, _ reported: (findings: Set<Finding>, tests: Set<String>)) -> Bool {
        guard issue.finding.category == .testFailure else {
            return reported.findings.contains {
                ($0.message, $0.path, $0.line) == (issue.finding.message, issue.finding.path, issue.finding.line)
            }
        }
        return reported.tests.contains { issue.finding.rule == $0 || issue.finding.rule.hasSuffix("/" + $0) }
    }

    /// Returns the last lines: each configuration with its steps, the paths of the logs of failed ones, and the result.
    static func end(_ answer: API.IntegrationDetail, logs: [Name: String], on terminal: Terminal) -> String {
        var text = answer.configurationText(on: terminal)
        let red = answer.configurations.filter { !RunStatus.green.contains($0.verdict ?? "") }
        for configuration in red {
            guard let log = Name(configuration.name).flatMap({ logs[$0] }) else { continue }
            text += "\n" + Output.visible("log of \(configuration.name): \(log)") + "\n"
        }
        return text + "\n"
            + Output.visible("\(answer.id) ") + terminal.paint(result: answer.outcome)
            + Output.visible(": \(answer.summary?.sentence ?? answer.reason ?? "")") + "\n"
    }
}

/// The exit statuses of a run.
enum RunStatus {
    static let green = ["succeeded", "warnings", "analyzer-warnings"]
    private static let red = ["test-failures", "build-errors"]

    /// Returns the exit status: 0 green, 1 red, 130 canceled (128 plus SIGINT's number, as in shells), 70 for an outcome that does not judge the
    /// code.
    static func of(_ outcome: String) -> Int32 {
        switch outcome {
        case _ where green.contains(outcome): 0
        case _ where red.contains(outcome): 1
        case "canceled": 130
        default: 70
        }
    }
}
