import Basics
import Foundation
package import Model

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
    ///   - log: The build's log. A file whose name it mentions was compiled again.
    ///   - exists: Whether a file is in the commit's tree.
    ///   - isFresh: Whether the build directory was empty before.
    package func combine(
        printed: [Finding], log: [UInt8], isFresh: Bool, exists: (String) -> Bool
    ) -> [Finding] {
        guard !isFresh else { return printed }
        let remembered = recall().filter { $0.path.map(exists) ?? false }
        let names = Set(remembered.compactMap { $0.path.map(Self.lastComponent) })
        let mentioned = Self.mentioned(names, in: log)
        let known = Set(printed)
        return printed
            + remembered.filter { finding in
                !mentioned.contains(Self.lastComponent(finding.path ?? "")) && !known.contains(finding)
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

    private static func lastComponent(_ path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }

    /// Which of the file names stand in the log as whole words. Linear in the log's length.
    private static func mentioned(_ names: Set<String>, in log: [UInt8]) -> Set<String> {
        guard !names.isEmpty else { return [] }
        let isSeparator: (UInt8) -> Bool = { byte in
            byte <= 0x20 || byte == UInt8(ascii: "/") || byte == UInt8(ascii: ":") || byte == UInt8(ascii: ",")
                || byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"")
        }
        var found: Set<String> = []
        for word in log.split(whereSeparator: isSeparator) where word.count <= 255 {
            let text = String(decoding: word, as: UTF8.self)
            if names.contains(text) { found.insert(text) }
        }
        return found
    }
}
