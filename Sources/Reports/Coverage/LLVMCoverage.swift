import Encodings
import Model

/// A reader of the output of `llvm-cov export`, which `swift test --enable-code-coverage` writes, too.
enum LLVMCoverage {
    /// Returns the lines, functions and branches of each file, from the files' summaries.
    static func read(_ bytes: [UInt8], root: SourceRoot) -> ReportContent {
        let report: JSON
        do {
            report = try JSON.parse(bytes)
        } catch {
            return .unreadable(error.text)
        }
        guard let version = report["version"].string, version.hasPrefix("2.") || version.hasPrefix("3.") else {
            let found = TextLimit.cut(report["version"].string ?? "?", toBytes: 40)
            return .unreadable("llvm-cov's export of version \(found) is not supported; 2 and 3 are")
        }
        guard let data = report["data"].elements else { return .unreadable("llvm-cov's export without data") }
        var list = CoverageList(root: root)
        for file in data.flatMap({ $0["files"].elements ?? [] }) {
            guard let path = file["filename"].string, let lines = share(file["summary"]["lines"]) else {
                return list.content(unreadable: "a file of llvm-cov's export has no name or no summary")
            }
            let branches = share(file["summary"]["branches"])
            list.add(
                path: path, lines: lines, functions: share(file["summary"]["functions"]),
                branches: branches?.total == 0 ? nil : branches)
        }
        return list.content(unreadable: nil)
    }

    private static func share(_ summary: JSON) -> Coverage.Share? {
        guard let count = summary["count"].int, let covered = summary["covered"].int else { return nil }
        return Coverage.Share(covered: covered, total: count)
    }
}
