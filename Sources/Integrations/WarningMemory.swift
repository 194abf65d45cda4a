import Basics
import Foundation
package import Model
import Reports

/// The compiler's warnings about what lies compiled in a workspace's build directory.
///
/// An incremental build says nothing about the files that it does not compile again, and a warning that is not repeated
/// is not a warning that is gone. What was said last about such a file is therefore remembered beside the workspace and
/// counted again, so that a warm integration shows the same issues as one from scratch.
package struct WarningMemory: Sendable {
    /// Larger files are not read back: then only what the build says itself counts. In bytes.
    static let maximumBytes = 16 * 1024 * 1024

    private let path: String

    package init(workspace: Workspace) { path = workspace.warnings }

    /// The findings of the build directory after a build: those that the build printed, and the remembered ones of
    /// files that it did not compile again.
    /// - Parameters:
    ///   - printed: What the build's log says.
    ///   - log: The build's log, which names the files that were compiled again.
    ///   - exists: Whether a file is in the commit's tree.
    package func combine(
        printed: [Finding], log: [UInt8], exists: (String) -> Bool
    ) -> [Finding] {
        let compiled = CompiledFiles(log: log)
        let known = Set(printed)
        return printed
            + recall().filter { finding in
                guard let path = finding.path, exists(path), !compiled.contains(path) else { return false }
                return !known.contains(finding)
            }
    }

    /// Remembers the warnings among the findings for the next build in this workspace.
    /// - Throws: `FileError`.
    package func remember(_ findings: [Finding]) throws {
        let warnings = findings.filter { $0.category == .warning && $0.path != nil }
        try AtomicFile.write(Array(try JSONEncoder().encode(warnings)), to: path)
    }

    private func recall() -> [Finding] {
        // Absent in a new workspace; unreadable is treated alike, since the next build from scratch says all again.
        guard let bytes = try? WholeFile.read(path, limit: Self.maximumBytes) else { return [] }
        return (try? JSONDecoder().decode([Finding].self, from: Data(bytes))) ?? []
    }
}
