import Encodings

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
        guard log.isObject else { return .unreadable("no SARIF: the outermost value is no object") }
        guard let version = log["version"].string else { return .unreadable("no SARIF: it has no version") }
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
