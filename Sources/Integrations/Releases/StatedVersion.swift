import Model
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
            throw TriggerError("\(place) says \"\(shown)\", which is no version; write one line such as 1.4.0")
        }
        return version
    }

    /// Reads the version in a file of a commit. Links are not followed.
    static func read(file path: String, of commit: CommitID, in mirror: Mirror) async throws -> SemanticVersion {
        do {
            let bytes = try await mirror.file(path, at: commit, limit: Trigger.VersionSource.maximumTextSize)
            guard let bytes else {
                throw TriggerError("\(path) is no file of \(commit.abbreviated); commit one, or correct `version`")
            }
            return try read(bytes, from: path)
        } catch let error as SourceControlError where error.code == .tooLarge {
            throw TriggerError(
                "\(path) says more than \(Trigger.VersionSource.maximumTextSize) bytes; a version is one line")
        }
    }
}
