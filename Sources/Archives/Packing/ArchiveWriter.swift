package import Basics
package import Model

/// A packer of directory trees. The same tree gives the same bytes, regardless of when and where it is packed.
///
/// - Entries are sorted by the bytes of their paths.
/// - Owner and group are 0, without names.
/// - Every entry has the given time.
/// - Modes are 0755 for directories and executable files, and 0644 for other files.
/// - The gzip header has neither time nor name (RFC 1952, section 2.3).
///
/// Tar archives have the GNU tar format, which stores names of any bytes and files of any size. The zip format stores local time, so zip archives
/// have the same bytes only within one time zone.
package enum ArchiveWriter {
    /// The largest number of entries in an archive. A checkout of the Linux kernel has about 90,000.
    package static let maximumEntries = 1_000_000

    /// The size limit of the files in an archive in bytes: 64 GiB.
    package static let maximumSize: Int64 = 64 << 30

    /// The largest number of messages about entries that are left out, and about links without a target. A published manifest contains them.
    package static let maximumListed = 100

    /// The result of packing.
    package struct Report: Sendable, Hashable {
        /// The number of files, directories and links.
        package let entries: Int
        /// The size of the files before compression.
        package let bytes: ByteCount
        /// The paths that were not packed, each with the reason. These are links that lead out of the tree or whose names differ from another only in
        /// case, and pipes, sockets and devices.
        package let leftOut: [String]
        /// Packed links whose target does not exist, each with its target.
        package let dangling: [String]
    }

    /// Packs the contents of a directory. Blocks, so run it on a `SerialQueue`.
    /// - Parameters:
    ///   - prefix: The archive's top directory, one path component.
    ///   - path: The path of the archive, which must not exist and which the operator chose. It gets mode 0644 and is synchronized. It is removed if
    ///     this throws.
    ///   - modified: The time of every entry, in whole seconds: the commit's time.
    /// - Throws: `tooLarge` if a limit is exceeded, `corrupted` if a file's size changes meanwhile, `invalidName`, `file`, `library`.
    package static func pack(
        directory: Directory, prefix: String, format: ArchiveFormat, to path: String, modified: Timestamp
    ) throws(ArchiveError) -> Report {
        let operation = "packing of \(directory.path) into \(path)"
        guard PublishedName.isComponent(prefix) else {
            throw ArchiveError(
                code: .invalidName, operation: operation, message: "\(prefix) cannot be a directory's name")
        }
        let entries: Entries
        do {
            entries = try collect(directory, operation: operation)
        } catch {
            throw ArchiveError(operation, error)
        }
        let output = try ArchiveOutput(
            format: format, path: path, seconds: modified.millisecondsSinceEpoch / 1000, operation: operation)
        do {
            let top = Array(prefix.utf8)
            try output.addDirectory(top)
            for path in entries.directoriesFilesAndLinks {
                let name = top + [UInt8(ascii: "/")] + path.bytes
                switch path.kind {
                case .directory: try output.addDirectory(name)
                case .link(let target): try output.addLink(name, target: target)
                case .file(let size, let isExecutable):
                    try output.addFile(name, at: path.bytes, in: directory, size: size, isExecutable: isExecutable)
                }
            }
            try output.close()
        } catch {
            output.abandon()
            throw ArchiveError(operation, error)
        }
        return Report(
            entries: entries.directoriesFilesAndLinks.count, bytes: ByteCount(entries.size),
            leftOut: entries.leftOut.sentences, dangling: entries.dangling.sentences)
    }

    // MARK: Collecting entries

    private struct Entry {
        enum Kind: Equatable {
            case directory
            case file(size: Int64, isExecutable: Bool)
            case link(target: [UInt8])
        }

        let bytes: [UInt8]
        let kind: Kind
    }

    private struct Entries {
        var directoriesFilesAndLinks: [Entry] = []
        var leftOut = Listed()
        var dangling = Listed()
        var size: Int64 = 0
    }

    /// The first messages of a list, and the number of further ones.
    private struct Listed {
        private var first: [String] = []
        private var count = 0

        var sentences: [String] {
            guard count > maximumListed else { return first }
            let named = maximumListed - 1
            return first.prefix(named) + ["\(count - named) more, which are not named"]
        }

        mutating func append(_ sentence: @autoclosure () -> String) {
            count += 1
            if count <= maximumListed { first.append(sentence()) }
        }
    }

    private static func collect(_ directory: Directory, operation: String) throws -> Entries {
        var found = Entries()
        var links: [(path: [UInt8], target: [UInt8])] = []
        try directory.walk(".", limit: maximumEntries) { path, status in
            let shown = String(decoding: path, as: UTF8.self)
            switch status.kind {
            case .directory: found.directoriesFilesAndLinks.append(Entry(bytes: path, kind: .directory))
            case .file:
                found.size += status.size
                guard found.size <= maximumSize else {
                    throw ArchiveError(
                        code: .tooLarge, operation: operation,
                        message: "the tree is larger than \(ByteCount(maximumSize)); archive less of it")
                }
                found.directoriesFilesAndLinks.append(
                    Entry(bytes: path, kind: .file(size: status.size, isExecutable: status.isExecutable)))
            case .link:
                links.append((path, try directory.linkTarget(path)))
            case .other: found.leftOut.append("\(shown): neither file, directory nor link")
            }
        }
        add(links, to: &found)
        found.directoriesFilesAndLinks.sort { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        return found
    }

    private static func add(_ links: [(path: [UInt8], target: [UInt8])], to found: inout Entries) {
        guard !links.isEmpty else { return }
        var tree = ArchivedLinks(
            links, directories: found.directoriesFilesAndLinks.filter { $0.kind == .directory }.map(\.bytes),
            files: found.directoriesFilesAndLinks.filter { $0.kind != .directory }.map(\.bytes))
        for (path, target) in links {
            let shown = String(decoding: path, as: UTF8.self)
            switch tree.verdict(on: path) {
            case .refused(let reason): found.leftOut.append("\(shown): \(reason)")
            case .dangling:
                found.dangling.append("\(shown) leads to \(String(decoding: target, as: UTF8.self))")
                fallthrough
            case .inside: found.directoriesFilesAndLinks.append(Entry(bytes: path, kind: .link(target: target)))
            }
        }
    }
}

/// The file format of an archive.
package enum ArchiveFormat: String, Sendable, CaseIterable {
    case tarZstandard = "tar.zst"
    case tarGzip = "tar.gz"
    case zip = "zip"

    /// The end of the file's name, without the dot before it.
    package var fileExtension: String { rawValue }
}
