import Basics
import Foundation
package import Model
package import Reports

/// Stores the compiler's warnings about files that are compiled in a workspace's build directory.
///
/// An incremental build prints no warnings about the files that it does not compile again, but these warnings are not fixed. So the last warnings
/// about such a file are stored beside the workspace and counted again. An incremental integration then shows the same issues as one from scratch.
package struct WarningCache: Sendable {
    /// The largest file that is read, in bytes. If it is larger, only the output of the build counts.
    static let maximumBytes = 16 * 1024 * 1024

    private let path: String
    private let isTreeGone: Bool

    /// - Parameter isTreeGone: Whether the tree was removed after the job because the disk was full. Then no file can be compared, and all stored
    ///   warnings about files that were not compiled again count.
    package init(workspace: Workspace, isTreeGone: Bool = false) {
        path = workspace.warnings
        self.isTreeGone = isTreeGone
    }

    /// - Parameter file: The absolute path of the file with the warnings, for a workspace that is on another machine.
    init(file: String) { (path, isTreeGone) = (file, false) }

    /// Returns the findings of the build directory after a build: those that the build printed, and the stored ones of files that it did not compile
    /// again.
    /// - Parameters:
    ///   - printed: The findings in the build's log.
    ///   - compiled: The files that the build compiled again, as its log names them.
    ///   - digest: Returns the SHA-256 of a file of the workspace now; `nil` if there is no such file. A file with other content than at the time of
    ///     the warning has been compiled again.
    package func combine(
        printed: [Finding], compiled: CompiledFiles, digest: (String) -> String?
    ) -> [Finding] {
        let known = Set(printed)
        return printed
            + load().filter { remembered in
                guard let path = remembered.finding.path, !compiled.contains(path),
                    isTreeGone || digest(path) == remembered.digest
                else { return false }
                return !known.contains(remembered.finding)
            }.map(\.finding)
    }

    /// Stores the warnings among the findings for the next build in this workspace.
    /// - Throws: `FileError`.
    package func store(_ findings: [Finding], digest: (String) -> String?) throws {
        var digests: [String: String] = [:]
        let warnings = findings.compactMap { finding -> Remembered? in
            guard finding.category == .warning, let path = finding.path else { return nil }
            guard let found = digests[path] ?? digest(path) else { return nil }
            digests[path] = found
            return Remembered(finding: finding, digest: found)
        }
        // After an unclean stop of the machine the workspace is discarded, and this file with it. So it need not be synchronized.
        try AtomicFile.write(Array(try JSONEncoder().encode(warnings)), to: path, surviving: .kill)
    }

    private struct Remembered: Codable {
        var finding: Finding
        var digest: String
    }

    private func load() -> [Remembered] {
        // The file is missing in a new workspace. An unreadable file is treated the same way, because the next build from scratch prints all warnings
        // again.
        guard let bytes = try? WholeFile.read(path, limit: Self.maximumBytes) else { return [] }
        return (try? JSONDecoder().decode([Remembered].self, from: Data(bytes))) ?? []
    }
}
