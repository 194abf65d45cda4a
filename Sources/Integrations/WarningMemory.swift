import Basics
import Foundation
package import Model
package import Reports

/// The compiler's warnings about what lies compiled in a workspace's build directory.
///
/// An incremental build says nothing about the files that it does not compile again, and a warning that is not repeated
/// is not a warning that is gone. What was said last about such a file is therefore remembered beside the workspace and
/// counted again, so that a warm integration shows the same issues as one from scratch.
package struct WarningMemory: Sendable {
    /// Larger files are not read back: then only what the build says itself counts. In bytes.
    static let maximumBytes = 16 * 1024 * 1024

    private let path: String
    private let isTreeGone: Bool

    /// - Parameter isTreeGone: Whether the tree was removed after the job, since the disk was full. No file can be compared then, and what is
    ///   remembered of files that were not compiled again counts as it is.
    package init(workspace: Workspace, isTreeGone: Bool = false) {
        path = workspace.warnings
        self.isTreeGone = isTreeGone
    }

    /// The findings of the build directory after a build: those that the build printed, and the remembered ones of
    /// files that it did not compile again.
    /// - Parameters:
    ///   - printed: What the build's log says.
    ///   - compiled: The files that the build compiled again, as its log names them.
    ///   - digest: The SHA-256 of a file of the workspace now; nothing when there is none. Of another content than when
    ///     the warning was given, the file was compiled again.
    package func combine(
        printed: [Finding], compiled: CompiledFiles, digest: (String) -> String?
    ) -> [Finding] {
        let known = Set(printed)
        return printed
            + recall().filter { remembered in
                guard let path = remembered.finding.path, !compiled.contains(path),
                    isTreeGone || digest(path) == remembered.digest
                else { return false }
                return !known.contains(remembered.finding)
            }.map(\.finding)
    }

    /// Remembers the warnings among the findings for the next build in this workspace.
    /// - Throws: `FileError`.
    package func remember(_ findings: [Finding], digest: (String) -> String?) throws {
        var digests: [String: String] = [:]
        let warnings = findings.compactMap { finding -> Remembered? in
            guard finding.category == .warning, let path = finding.path else { return nil }
            guard let found = digests[path] ?? digest(path) else { return nil }
            digests[path] = found
            return Remembered(finding: finding, digest: found)
        }
        // After a stop of the machine the workspace is doubted, and this file goes with what it describes.
        try AtomicFile.write(Array(try JSONEncoder().encode(warnings)), to: path, surviving: .kill)
    }

    private struct Remembered: Codable {
        var finding: Finding
        var digest: String
    }

    private func recall() -> [Remembered] {
        // Absent in a new workspace; unreadable is treated alike, since the next build from scratch says all again.
        guard let bytes = try? WholeFile.read(path, limit: Self.maximumBytes) else { return [] }
        return (try? JSONDecoder().decode([Remembered].self, from: Data(bytes))) ?? []
    }
}
