import Basics
import Encodings
import Foundation
package import Model

/// The file `backup.json` of a backup. It is written last: a directory without it is no backup.
package struct BackupDescription: Codable, Sendable, Hashable {
    /// The form of backups that this version writes and reads.
    package static let currentForm = 1
    /// Its name in the backup's directory.
    package static let file = "backup.json"
    /// The name of the list of files, in the form of `sha256sum` of coreutils.
    package static let list = "SHA256SUMS"
    /// The most bytes of the description.
    private static let limit = 64 << 10

    package var form: Int
    /// The version of Martlet that wrote it.
    package var version: String
    /// When the copy of the database was made.
    package var made: String
    /// Whether artifacts, reports and archives of integrations are in it, too.
    package var hasArtifacts: Bool
    /// Whether no daemon worked on the state meanwhile.
    package var wasStopped: Bool
    package var files: Int
    package var bytes: Int64
    /// The digest of the list.
    package var listSHA256: String

    package init(
        version: String, made: Timestamp, hasArtifacts: Bool, wasStopped: Bool, files: Int, bytes: Int64,
        listSHA256: String
    ) {
        form = Self.currentForm
        self.version = version
        self.made = made.description
        self.hasArtifacts = hasArtifacts
        self.wasStopped = wasStopped
        self.files = files
        self.bytes = bytes
        self.listSHA256 = listSHA256
    }

    /// Reads the description of a backup.
    /// - Throws: `BackupError` if the directory has none, or one that this version does not read.
    package init(in directory: String) throws(BackupError) {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try WholeFile.read(directory + "/" + Self.file, limit: Self.limit)
        } catch {
            throw BackupError(
                error.code == .notFound
                    ? "\(directory) is no whole backup: it has no \(Self.file), which is written last; use another backup"
                    : "the backup \(directory) cannot be read: \(error)")
        }
        guard let read = try? JSONDecoder().decode(Self.self, from: Data(bytes)) else {
            throw BackupError("\(directory)/\(Self.file) is damaged; use another backup")
        }
        guard read.form == Self.currentForm else {
            throw BackupError(
                "\(directory) has the form \(read.form), and this version of Martlet reads \(Self.currentForm); use the version that wrote it, \(read.version.inOneLine)"
            )
        }
        self = read
    }

    /// The description's text.
    var text: [UInt8] {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
        }
    }
}

/// The reason why a backup cannot be made, used or restored: a sentence with what to do.
package struct BackupError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// The list of a backup's files: a line each with digest, two spaces and path, as `sha256sum -c` reads it.
package struct BackupList: Sendable, Hashable {
    /// A file. Paths are bytes, because artifacts' names need not be UTF-8.
    package struct Entry: Sendable, Hashable {
        package var sha256: String
        package var path: [UInt8]
    }

    /// The most bytes of a list, for some ten million files.
    static let limit = 2 << 30

    package var entries: [Entry] = []

    package init() {}

    /// - Returns: `nil` if the bytes are no such list, or a path leads out of the directory.
    package init?(_ bytes: [UInt8]) {
        guard bytes.isEmpty || bytes.last == UInt8(ascii: "\n") else { return nil }
        for var line in bytes.split(separator: UInt8(ascii: "\n")) {
            // coreutils marks a line whose name is escaped by a backslash at its beginning.
            let isEscaped = line.first == UInt8(ascii: "\\")
            if isEscaped { line = line.dropFirst() }
            let digest = String(decoding: line.prefix(64), as: UTF8.self)
            guard line.count > 66, Hexadecimal.decode(digest) != nil, line.dropFirst(64).starts(with: "  ".utf8) else {
                return nil
            }
            guard let path = Self.path(line.dropFirst(66), isEscaped: isEscaped) else { return nil }
            entries.append(Entry(sha256: digest, path: path))
        }
    }

    private static func path(_ bytes: ArraySlice<UInt8>, isEscaped: Bool) -> [UInt8]? {
        var path: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            guard isEscaped, byte == UInt8(ascii: "\\") else {
                path.append(byte)
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "n"): path.append(UInt8(ascii: "\n"))
            case UInt8(ascii: "r"): path.append(UInt8(ascii: "\r"))
            case UInt8(ascii: "\\"): path.append(UInt8(ascii: "\\"))
            default: return nil
            }
        }
        let parts = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isBeneath = parts.allSatisfy { !$0.isEmpty && !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8) }
        return isBeneath && !path.contains(0) ? path : nil
    }

    /// The list's content, in the order of the entries.
    package var bytes: [UInt8] {
        var text: [UInt8] = []
        for entry in entries {
            let isEscaped = entry.path.contains {
                [UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\\")].contains($0)
            }
            if isEscaped { text.append(UInt8(ascii: "\\")) }
            text += Array("\(entry.sha256)  ".utf8)
            for byte in entry.path {
                switch byte {
                case UInt8(ascii: "\n"): text += Array("\\n".utf8)
                case UInt8(ascii: "\r"): text += Array("\\r".utf8)
                case UInt8(ascii: "\\"): text += Array("\\\\".utf8)
                default: text.append(byte)
                }
            }
            text.append(UInt8(ascii: "\n"))
        }
        return text
    }
}
