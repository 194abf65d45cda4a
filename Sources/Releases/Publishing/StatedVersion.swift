package import Model
import SourceControl

/// Reads a version that the repository's authors state in a file of the commit or by a command.
enum StatedVersion {
    /// Reads one line with a version, with or without a `v` before it.
    /// - Parameter place: The source for messages: "VERSION", "the command".
    /// - Throws: `TriggerError` if the bytes are no version.
    static func read(_ bytes: [UInt8], from place: String) throws(TriggerError) -> SemanticVersion {
        guard bytes.count <= Trigger.VersionSource.maximumTextSize else {
            throw TriggerError(
                "\(place) says more than \(Trigger.VersionSource.maximumTextSize) bytes; a version is one line")
        }
        // Some editors write a byte order mark, which is invisible.
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = String(decoding: bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...], as: UTF8.self)
        let trimmed = text.drop(while: \.isWhitespace)
        let line = String(String(trimmed.reversed().drop(while: \.isWhitespace).reversed()))
        guard let version = SemanticVersion(tag: line) else {
            let shown = line.unicodeScalars.prefix(60).map { $0.value < 0x20 || $0.value == 0x7F ? "�" : "\($0)" }
                .joined()
            throw TriggerError("\(place) says \"\(shown)\", which is not a version; write one line such as 1.4.0")
        }
        return version
    }

    /// Reads the version in a file of a commit. Links are not followed.
    static func read(file path: String, of commit: CommitID, in mirror: Mirror) async throws -> SemanticVersion {
        do {
            let bytes = try await mirror.file(path, at: commit, limit: Trigger.VersionSource.maximumTextSize)
            guard let bytes else {
                throw TriggerError("\(path) is not a file of \(commit.abbreviated); commit one, or correct `version`")
            }
            return try read(bytes, from: path)
        } catch let error as SourceControlError where error.code == .tooLarge {
            throw TriggerError(
                "\(path) says more than \(Trigger.VersionSource.maximumTextSize) bytes; a version is one line")
        }
    }
}

/// The MAJOR.MINOR that a release branch's name states: `release/1.4` → 1.4.
package struct ReleaseLine: Hashable, Sendable, CustomStringConvertible {
    package let major: VersionNumber
    package let minor: VersionNumber

    package init(major: VersionNumber, minor: VersionNumber) {
        self.major = major
        self.minor = minor
    }

    /// Reads the part after the last slash: `1.4`, `v1.4`, or `1`, whose minor is 0. `nil` for anything else, and for numbers with leading zeros,
    /// which Semantic Versioning forbids.
    package init?(branch: String) {
        var last = branch.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        if last.hasPrefix("v") { last = last.dropFirst() }
        let parts = last.split(separator: ".", omittingEmptySubsequences: false)
        guard let first = parts.first, parts.count <= 2,
            let line = SemanticVersion("\(first).\(parts.count == 2 ? parts[1] : "0").0"), line.prerelease.isEmpty,
            line.build.isEmpty
        else { return nil }
        self.init(major: line.major, minor: line.minor)
    }

    package var description: String { "\(major).\(minor)" }
}
