import Foundation
import Model
import Reports

/// A table with one line per file: the format it is read as, and its contents or the reason of its refusal.
enum FileTable {
    static let root = SourceRoot(mountedAt: "/home/me/pkg", others: ["/home/me", "/kit"])

    static func print(_ directories: [String]) {
        for file in files(directories) {
            guard let bytes = FileManager.default.contents(atPath: file.path).map(Array.init) else { continue }
            let content = ReportReader.read(bytes, fileName: "report", root: root)
            let format = ReportReader.format(of: bytes) ?? "-"
            Swift.print("\(file.name)\t\(format)\t\(summary(content))")
        }
    }

    /// Returns all regular files in the directories, sorted by path.
    static func files(_ directories: [String]) -> [(name: String, path: String)] {
        directories.flatMap { directory -> [(name: String, path: String)] in
            let names = (FileManager.default.enumerator(atPath: directory)?.allObjects ?? []).compactMap {
                $0 as? String
            }
            return names.sorted().compactMap { name -> (name: String, path: String)? in
                var isDirectory: ObjCBool = false
                let path = directory + "/" + name
                guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), !isDirectory.boolValue
                else { return nil }
                return (name: (directory.split(separator: "/").last ?? "") + "/" + name, path: path)
            }
        }
    }

    static func summary(_ content: ReportContent) -> String {
        func count(_ outcome: TestResult.Outcome) -> Int { content.tests.count { $0.outcome == outcome } }
        var parts: [String] = []
        if !content.tests.isEmpty || (content.findings.isEmpty && content.coverage == nil && content.problems.isEmpty) {
            let outcomes = TestResult.Outcome.allCases.dropFirst().filter { count($0) > 0 }
                .map { "\(count($0)) \($0.rawValue)" }
            parts.append((["\(content.tests.count) tests"] + outcomes).joined(separator: ", "))
        }
        if !content.findings.isEmpty { parts.append("\(content.findings.count) findings") }
        if let coverage = content.coverage {
            parts.append(
                "\(coverage.files.count) files, \(coverage.lines.covered) of \(coverage.lines.total) lines covered")
        }
        parts += content.problems.prefix(1)
        return parts.joined(separator: "; ")
    }
}
