import Encodings
import Model

/// A reader of SARIF 2.1.0 (OASIS standard, errata 01) of any analyzer.
package enum SARIFReader {
    /// Returns the report's results as analyzer warnings.
    ///
    /// Results that need no action are left out: suppressed ones, those of a kind other than `fail` and `review`, of level `none`, and those that a
    /// baseline marks as gone (`absent`). The following are problems, since an analysis that did not happen is not a clean one:
    /// - a report without a run, and a run without results
    /// - a run whose tool reports that it did not succeed, or reports an error
    /// - a result that is no object
    ///
    /// Older versions are refused.
    package static func read(_ bytes: [UInt8], root: SourceRoot) -> ReportContent {
        let log: JSON
        do {
            log = try JSON.parse(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...])
        } catch {
            return .unreadable(error.text)
        }
        guard log.isObject else { return .unreadable("not SARIF: the outermost value is not an object") }
        guard let version = log["version"].string else { return .unreadable("not SARIF: it has no version") }
        guard version == "2.1.0" else {
            return .unreadable("SARIF version \(TextLimit.cut(version, toBytes: 40)) is not supported; 2.1.0 is")
        }
        guard let runs = log["runs"].elements else { return .unreadable("SARIF without runs") }
        var content = ReportContent()
        if runs.isEmpty { content.problems.append("the SARIF report holds no run: the analysis did not take place") }
        for (index, run) in runs.enumerated() {
            SARIFRun(run, number: index + 1, root: root).read(into: &content)
        }
        return content
    }
}

/// One run of an analyzer in a SARIF log.
struct SARIFRun {
    private let run: JSON
    private let number: Int
    private let locations: SARIFLocations
    private let rules: SARIFRules

    init(_ run: JSON, number: Int, root: SourceRoot) {
        self.run = run
        self.number = number
        locations = SARIFLocations(run, root: root)
        rules = SARIFRules(run)
    }

    func read(into content: inout ReportContent) {
        let tool = TextLimit.cut(run["tool"]["driver"]["name"].string ?? "run \(number)", toBytes: 100)
        guard run.isObject else {
            content.problems.append("report unreadable: SARIF run \(number) is not an object")
            return
        }
        for invocation in run["invocations"].elements ?? [] where invocation["executionSuccessful"].bool == false {
            let why =
                invocation["exitCodeDescription"].string ?? invocation["exitSignalName"].string
                ?? invocation["toolExecutionNotifications"][0]["message"]["text"].string
            content.problems.append(
                "\(tool) did not succeed, according to its report"
                    + (why.map { ": " + TextLimit.cut($0, toBytes: 500) } ?? ""))
        }
        if let said = firstError {
            content.problems.append("\(tool) reports about itself: " + TextLimit.cut(said, toBytes: 500))
        }
        guard let results = run["results"].elements else {
            if run["externalPropertyFileReferences"]["results"].isNothing {
                content.problems.append("\(tool) has no results in its report: the analysis did not take place")
            } else {
                content.problems.append("the results of \(tool) are in other files, which are not read")
            }
            return
        }
        if let place = results.firstIndex(where: { !$0.isObject }) {
            content.problems.append("report unreadable: result \(place + 1) of \(tool) is not an object")
        }
        for result in results {
            guard let finding = finding(of: result) else { continue }
            guard content.findings.count < ReportContent.maximumItems else {
                content.problems.append("more than \(ReportContent.maximumItems) results; the others are not read")
                return
            }
            content.findings.append(finding)
        }
    }

    /// The first error of which the tool notified; `nil` if there is none. The tool then checked less than requested, even if it reports success.
    private var firstError: String? {
        for invocation in run["invocations"].elements ?? [] {
            for kind in ["toolExecutionNotifications", "toolConfigurationNotifications"] {
                let error = (invocation[kind].elements ?? []).first { $0["level"].string == "error" }
                if let error { return error["message"]["text"].string ?? error["descriptor"]["id"].string ?? kind }
            }
        }
        return nil
    }

    private func finding(of result: JSON) -> Finding? {
        guard result.isObject else { return nil }
        // Section 3.27.9: the default kind is "fail".
        let kind = result["kind"].string ?? "fail"
        guard kind == "fail" || kind == "review", result["baselineState"].string != "absent", !isSuppressed(result)
        else { return nil }
        let rule = rules.rule(of: result)
        guard kind == "review" || rules.level(of: result, rule: rule) != "none" else { return nil }
        let place = locations.first(of: result)
        return Finding(
            category: .analyzerWarning,
            message: TextLimit.cut(rules.message(of: result, rule: rule), toBytes: Finding.maximumMessageBytes),
            rule: TextLimit.cut(rules.identifier(of: result, rule: rule), toBytes: TextLimit.nameBytes),
            path: place?.path, line: place?.line, column: place?.column)
    }

    /// Returns whether a result is suppressed. Sections 3.27.23 and 3.35.3: it is, unless a suppression is under review or rejected.
    private func isSuppressed(_ result: JSON) -> Bool {
        guard let suppressions = result["suppressions"].elements, !suppressions.isEmpty else {
            // This property comes from drafts of 2.1.0, and some tools still write it.
            return result["suppressionStates"].elements?.isEmpty == false
        }
        return suppressions.allSatisfy { suppression in
            let status = suppression["status"].string ?? suppression["state"].string
            return status == nil || status == "accepted"
        }
    }
}
