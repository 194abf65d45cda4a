import Basics
import CLibGit2

/// The ignore rules and attributes of a commit, from its own `.gitignore` and `.gitattributes` files. They are read at the first query; a checkout
/// without changes makes none.
///
/// The workspace's files are never used, because a job could have written them.
final class TreeRules {
    /// The longest rule file, in bytes. A longer one counts as missing.
    static let maximumRuleFile = 1 << 20

    /// The rules of one repository. It is a class so that its results for directories are cached.
    private final class Source {
        var ignored = IgnoreRules()
        var attributes = AttributeRules()
    }

    private let listing: TreeListing
    private let reading: CommitReading
    /// The rules by the listing's sources, because a submodule's files have its own rules; `nil` before they are read.
    private var sources: [Int: Source]?
    private let interruption: Interruption?
    private let watch: RuleWatch
    private var operation: String { reading.operation }

    /// - Parameter interruption: Checked while the rules are read, and while they are matched.
    init(of listing: TreeListing, reading: CommitReading, interruption: Interruption? = nil) {
        self.listing = listing
        self.reading = reading
        self.interruption = interruption
        watch = RuleWatch(operation: reading.operation, interruption: interruption)
    }

    private func read() throws(SourceControlError) -> [Int: Source] {
        if let sources { return sources }
        var read: [Int: Source] = [:]
        var budget = RuleBudget(operation: operation)
        for path in listing.order {
            try interruption?.check(operation)
            guard let entry = listing.entries[path], entry.kind == .file || entry.kind == .executable else { continue }
            let start = path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
            let isIgnore = path[start...].elementsEqual(".gitignore".utf8)
            guard isIgnore || path[start...].elementsEqual(".gitattributes".utf8) else { continue }
            let directory = Array(path[listing.source(of: path).start..<start])
            let source = read[entry.source] ?? Source()
            read[entry.source] = source
            let text = { () throws(SourceControlError) in try self.text(of: entry, path) }
            if isIgnore {
                if let lines = try budget.ignored(entry.id.bytes, text) { source.ignored.add(lines, in: directory) }
            } else {
                if let file = try budget.attributes(entry.id.bytes, text) { source.attributes.add(file, in: directory) }
            }
        }
        sources = read
        return read
    }

    /// Returns the content of a rule file; `nil` if it is too long to count.
    private func text(of entry: TreeListing.Entry, _ path: [UInt8]) throws(SourceControlError) -> [UInt8]? {
        do throws(SourceControlError) {
            return CommitReading.bytes(
                of: try listing.reading(of: entry).blob(
                    entry.id, limit: Self.maximumRuleFile, path: String(decoding: path, as: UTF8.self)))
        } catch {
            if error.code == .tooLarge { return nil }
            throw error
        }
    }

    /// Queries the rules of the path's repository, within the time limit. `nil` if there are none.
    private func ask<Answer>(
        _ path: [UInt8],
        _ question: (Source, _ path: [UInt8]) throws(SourceControlError) -> Answer
    ) throws(SourceControlError) -> Answer? {
        let place = listing.source(of: path)
        guard let source = try read()[place.source] else { return nil }
        return try watch.ask { () throws(SourceControlError) in try question(source, Array(path[place.start...])) }
    }

    /// Whether the commit's rules ignore a path.
    func isIgnored(_ path: [UInt8], isDirectory: Bool) throws(SourceControlError) -> Bool {
        try ask(path) { source, path throws(SourceControlError) in
            try source.ignored.isIgnored(path, isDirectory: isDirectory, watch)
        } ?? false
    }

    /// Returns the conversion of a file according to the commit's attributes.
    /// - Throws: `treeRefused` for attributes at which git fails, too.
    func conversion(of path: [UInt8]) throws(SourceControlError) -> TextConversion {
        let values = try ask(path) { source, path throws(SourceControlError) in
            try source.attributes.values(of: path, watch)
        }
        guard let values, !values.isEmpty else { return TextConversion() }
        do throws(TextConversion.Fault) {
            return try TextConversion(values)
        } catch {
            throw error.refusal(of: path, operation)
        }
    }

    /// Returns a blob's content for the working directory, with line ends, `$Id$` and encoding converted by the attributes. Filters that would run a
    /// program (`filter=`) are ignored.
    func filtered(_ id: git_oid, path: [UInt8], limit: Int, reading: CommitReading) throws(SourceControlError)
        -> [UInt8]
    {
        let blob = CommitReading.bytes(
            of: try reading.blob(id, limit: limit, path: String(decoding: path, as: UTF8.self)))
        return try conversion(of: path).toWorkingTree(blob) { id.hexadecimal }
    }
}

extension TextConversion {
    /// Creates a conversion without any change.
    init() {}
}

extension TextConversion.Fault {
    /// Returns the error for a file that cannot be converted.
    func refusal(of path: [UInt8], _ operation: String) -> SourceControlError {
        let file = String(decoding: path, as: UTF8.self)
        let message: String
        switch self {
        case .invalidEncoding:
            message =
                "a .gitattributes file gives \"\(file)\" a working-tree-encoding without a name; write "
                + "working-tree-encoding=NAME, for example UTF-16LE-BOM"
        case .byteOrderMark(let encoding, true):
            message =
                "\"\(file)\" has the working-tree-encoding \(encoding) and does not begin with a byte order mark, which "
                + "\(encoding) requires; save it with one, or name \(encoding)LE or \(encoding)BE in .gitattributes"
        case .byteOrderMark(let encoding, false):
            message =
                "\"\(file)\" has the working-tree-encoding \(encoding) and begins with a byte order mark, which "
                + "\(encoding) does not allow; save it without, or name \(encoding.dropLast(2)) in .gitattributes"
        case .notEncoded(let encoding):
            message =
                "\"\(file)\" cannot be read in its working-tree-encoding \(encoding): the encoding is unknown here, or "
                + "the file has bytes that are not of it; correct .gitattributes or the file"
        case .notReversible(let encoding):
            message =
                "\"\(file)\" would be other bytes after the way from \(encoding) to UTF-8 and back, which git refuses; "
                + "correct the file or its working-tree-encoding in .gitattributes"
        }
        return SourceControlError(code: .treeRefused, operation: operation, message: message, underlying: self)
    }
}
