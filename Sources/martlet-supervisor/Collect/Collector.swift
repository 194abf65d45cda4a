import CLinux
import Glibc
import JobProtocol
import Processes
import Redaction

/// Copies a job's files within limits, after its last process is gone. It copies regular files all of whose names are in the workspace, and links
/// according to `Links`. A pipe, a device, or a file with a name elsewhere could refer to something outside the workspace. It is left out, and the
/// log and `leftOut` report it.
struct Collector {
    /// The treatment of symbolic links. The archive's writer decides again whether a link leads out of the archive.
    enum Links {
        /// A link to a copied file is copied as a link; any other link is replaced with the source's file that it leads to.
        case kept
        /// The file of the source that a link leads to is copied under the link's name, unless it is copied anyway.
        case followed
    }

    let source: Tree
    let destination: Tree
    /// The directory of the copies: `reports/0` or `artifacts`.
    let place: String
    /// The word for the files in messages about limits: `reports` or `artifacts`.
    let noun: String
    let byteLimit: Int64
    let fileLimit: Int
    /// Masks the copied bytes, for reports, which the service reads and shows. `nil`: the bytes are copied unchanged, as for products.
    let redactor: LogRedactor?
    let links: Links
    /// The path by which the job's links name the source.
    let mountedAt: [UInt8]
    /// Files that are skipped as long as they are unchanged. They existed before the step, so they are not its reports.
    let old: [[UInt8]: FileIdentity]
    let isStopped: () -> Bool

    /// The number of bytes and files that were written.
    private(set) var bytes: Int64 = 0
    private(set) var files = 0
    /// Lines for the log.
    private var complaints: [String] = []
    /// The files that were not copied, in the log's words.
    private(set) var leftOut: [String] = []
    /// The limit that was reached, in words.
    private(set) var limit: String?
    /// An error of the supervisor or the machine, or two files with the same name.
    private(set) var problem: String?
    private var taken: [[UInt8]: [UInt8]] = [:]
    /// The matching links: their paths, and their paths in the copy.
    private var found: [(path: [UInt8], target: [UInt8])] = []
    /// How many names each file has in the source; `nil` before a file with several names is met.
    private var names: [FileIdentity.File: Int]?
    /// How many files were skipped, since the step did not change them.
    private var unchanged = 0
    /// The copied files, by their paths in the source.
    private var sources: Set<[UInt8]> = []
    /// The destination's directories in which files or directories were created.
    private var changed: Set<[UInt8]> = []
    /// Follows links through the source. All links share it, because its limit applies to one walk.
    private var walk: LinkWalk
    /// How many more path components are looked up for links to copied files.
    private var copiedComponents: Int

    /// The number of path components that are looked up for each file that may be copied.
    private static let componentsPerFile = 2_000

    init(
        source: Tree, destination: Tree, place: String, noun: String, byteLimit: Int64, fileLimit: Int,
        bytes: Int64 = 0, files: Int = 0, redactor: LogRedactor? = nil, links: Links,
        mountedAt: String, old: [[UInt8]: FileIdentity] = [:], isStopped: @escaping () -> Bool
    ) {
        self.source = source
        self.destination = destination
        self.place = place
        self.noun = noun
        self.byteLimit = byteLimit
        self.fileLimit = fileLimit
        self.bytes = bytes
        self.files = files
        self.redactor = redactor
        self.links = links
        self.mountedAt = Array(mountedAt.utf8)
        self.old = old
        self.isStopped = isStopped
        let components =
            min(fileLimit, LinkWalk.maximumComponents / Self.componentsPerFile) * Self.componentsPerFile
        walk = LinkWalk(root: self.mountedAt, limit: components) { source.entry($0) }
        copiedComponents = components
    }

    mutating func collect(_ patterns: [String], base: String = "") {
        let parsed = patterns.compactMap { PathPattern($0) }
        guard !parsed.isEmpty else { return }
        let stripped = base.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
        let prefix = stripped.isEmpty ? [] : Array((stripped + "/").utf8)
        let (unreadable, isOverLimit) = source.walk(parsed) { path, directory, name in
            let target = path.starts(with: prefix) ? Array(path.dropFirst(prefix.count)) : path
            take(path, directory, name, as: target)
            return mayGoOn
        }
        // After the files: a link's target is copied once, under its own name.
        var copied = walkOfCopied()
        for link in found where mayGoOn { take(link: link.path, as: link.target, &copied) }
        copiedComponents = copied.left
        found = []
        synchronizeNames()
        for path in unreadable { complain("a directory cannot be read", path) }
        if isOverLimit { limit = "workspace over \(Tree.entryLimit) entries" }
    }

    private var mayGoOn: Bool { limit == nil && problem == nil && !isStopped() }

    /// Logs what was left out, and why copying stopped.
    func tell(_ log: inout JobLog) {
        if unchanged > 0 {
            log.say("\(unchanged) of the commit's files match report: and are as they were, so they are no report")
        }
        for complaint in complaints { log.say(complaint) }
        if let limit { log.say(limit) }
        if let problem { log.say(problem) }
    }

    private mutating func complain(_ what: String, _ path: [UInt8]) {
        let line = "\(String(decoding: path, as: UTF8.self)) was not copied: \(what)"
        note(line)
        if leftOut.count == LeftOut.countLimit { leftOut.append(LeftOut.more) }
        if leftOut.count < LeftOut.countLimit { leftOut.append(line) }
    }

    private mutating func note(_ line: String) {
        if complaints.count == LeftOut.countLimit { complaints.append("more files were not copied, or masked") }
        if complaints.count < LeftOut.countLimit { complaints.append(line) }
    }

    private mutating func take(_ path: [UInt8], _ directory: Int32, _ name: [UInt8], as target: [UInt8]) {
        if let other = taken[target] {
            guard other != path else { return }
            problem = "two \(noun) are named \(String(decoding: target, as: UTF8.self))"
            return
        }
        // Checked before it is opened, since opening a device can have effects. No process that could replace it runs any more.
        var status = stat()
        guard Tree.withPath(name, { fstatat(directory, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 else { return }
        if status.st_mode & S_IFMT == S_IFLNK { return found.append((path, target)) }
        take(path, status, as: target) { flags in
            let opened = Tree.withPath(name) { clinux_openat(directory, $0, flags, 0) }
            return opened < 0 ? .failure(SystemError(number: errno)) : .success(opened)
        }
    }

    /// Copies a file of the source.
    private mutating func take(
        _ path: [UInt8], _ status: stat, as target: [UInt8], open: (Int32) -> Result<Int32, SystemError>
    ) {
        guard isPlain(status, path) else { return }
        if old[path] == FileIdentity(status) {
            unchanged += 1
            return
        }
        guard !holdsSecret(target, path) else { return }
        let input: Int32
        switch open(O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) {
        case .failure(let error): return complain(error.text, path)
        case .success(let descriptor): input = descriptor
        }
        defer { close(input) }
        var status = status
        guard fstat(input, &status) == 0, isPlain(status, path) else { return }
        guard files < fileLimit else {
            limit = "\(noun) over \(fileLimit) files"
            return
        }
        guard Int64(status.st_size) <= byteLimit - bytes else {
            limit = "\(noun) over \(Words.size(byteLimit))"
            return
        }
        files += 1
        taken[target] = path
        sources.insert(path)
        copy(path, input, to: Array((place + "/").utf8) + target, isExecutable: status.st_mode & 0o100 != 0)
    }

    private mutating func holdsSecret(_ target: [UInt8], _ path: [UInt8]) -> Bool {
        guard let redactor, redactor.finds(in: target) else { return false }
        // The log's own masking hides the secret in this message.
        complain("its name holds a secret", path)
        return true
    }

    /// Returns a walk through the copied files and the matching links.
    private func walkOfCopied() -> LinkWalk {
        var entries: [[UInt8]: LinkWalk.Entry] = [:]
        guard links == .kept, !found.isEmpty else { return LinkWalk(limit: copiedComponents) { _ in nil } }
        func add(_ path: [UInt8], _ entry: LinkWalk.Entry) {
            entries[path] = entry
            var above = path[...]
            while let slash = above.lastIndex(of: UInt8(ascii: "/")) {
                above = above[..<slash]
                guard entries.updateValue(.directory, forKey: Array(above)) == nil else { break }
            }
        }
        for path in taken.keys { add(path, .file) }
        for link in found {
            if case .link(let text) = source.entry(link.path) { add(link.target, .link(target: text)) }
        }
        return LinkWalk(limit: copiedComponents) { [entries] in entries[$0] }
    }

    private mutating func take(link path: [UInt8], as target: [UInt8], _ copied: inout LinkWalk) {
        guard taken[target] == nil, case .link(let text) = source.entry(path), !holdsSecret(target, path) else {
            return
        }
        if links == .kept {
            switch copied.end(of: target) {
            case .file, .directory: return keep(path, text, as: target)
            case .missing, .outside, .endless: break
            }
        }
        follow(path, as: target)
    }

    private mutating func follow(_ path: [UInt8], as target: [UInt8]) {
        guard case .file(let place) = walk.end(of: path) else {
            let reason =
                walk.left > 0
                ? "it is a link that leads to no file of the workspace"
                : "it is a link, and the ways of all links are longer than is followed"
            return complain(reason, path)
        }
        if links == .followed, sources.contains(place) { return }
        var status = stat()
        guard case .success(let opened) = source.open(place, clinux_o_path | O_NOFOLLOW) else { return }
        defer { close(opened) }
        guard fstat(opened, &status) == 0 else { return }
        guard old[place] != FileIdentity(status) else {
            return complain("it is a link to a file that the step did not write", path)
        }
        take(place, status, as: target) { [source] in source.open(place, $0) }
    }

    private mutating func keep(_ path: [UInt8], _ text: [UInt8], as target: [UInt8]) {
        guard files < fileLimit else {
            limit = "\(noun) over \(fileLimit) files"
            return
        }
        guard counts(text.count) else { return }
        files += 1
        taken[target] = path
        let whole = Array((place + "/").utf8) + target
        let end = whole.lastIndex(of: UInt8(ascii: "/")) ?? 0
        if let error = destination.makeDirectories(Array(whole[..<end])) { return fail(error, whole) }
        guard case .success(let parent) = destination.open(Array(whole[..<end]), O_RDONLY | O_DIRECTORY) else {
            return fail(SystemError(number: errno), whole)
        }
        defer { close(parent) }
        let isMade = Tree.withPath(text) { text in
            Tree.withPath(Array(whole[(end + 1)...])) { symlinkat(text, parent, $0) } == 0
        }
        guard isMade else { return fail(SystemError(number: errno), whole) }
        note(changedAbove: whole[..<end])
    }

    private mutating func isPlain(_ status: stat, _ path: [UInt8]) -> Bool {
        guard status.st_mode & S_IFMT == S_IFREG else {
            complain("it is not a regular file", path)
            return false
        }
        guard status.st_nlink > 1 else { return true }
        let inner = (names ?? source.namesOfFiles())
        names = inner
        let count = inner[FileIdentity.File(status)] ?? 0
        guard count < status.st_nlink else { return true }
        complain("it has \(status.st_nlink) names, of which \(count) can be found in the workspace", path)
        return false
    }

    /// Records the changed directories above a new file, up to the attempt's own directory, which the last event synchronizes anyway.
    private mutating func note(changedAbove parent: ArraySlice<UInt8>) {
        var above = parent
        while !above.isEmpty, changed.insert(Array(above)).inserted {
            above = above[..<(above.lastIndex(of: UInt8(ascii: "/")) ?? above.startIndex)]
        }
    }

    private mutating func copy(_ path: [UInt8], _ input: Int32, to target: [UInt8], isExecutable: Bool) {
        let parent = target[..<(target.lastIndex(of: UInt8(ascii: "/")) ?? 0)]
        if let error = destination.makeDirectories(Array(parent)) { return fail(error, target) }
        let output: Int32
        switch destination.open(target, O_WRONLY | O_CREAT | O_EXCL, mode: isExecutable ? 0o755 : 0o644) {
        case .failure(let error): return fail(error, target)
        case .success(let descriptor): output = descriptor
        }
        note(changedAbove: parent)
        defer { close(output) }
        guard let redactor else { return transfer(input, output, target) }
        mask(input, output, path, target, redactor)
    }

    private mutating func transfer(_ input: Int32, _ output: Int32, _ target: [UInt8]) {
        while true {
            let count = clinux_copy_file_range(input, output, 1 << 24)
            if count == 0 { break }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return fail(SystemError(number: errno), target) }
            guard counts(count) else { return }
        }
        if fdatasync(output) != 0 { fail(SystemError(number: errno), target) }
    }

    /// The most bytes in memory at a time.
    private static let chunkBytes = 256 * 1024

    /// Copies with secrets masked. A file with a NUL in its first bytes is not text, as in git: masking does not change its length.
    private mutating func mask(
        _ input: Int32, _ output: Int32, _ path: [UInt8], _ target: [UInt8], _ redactor: LogRedactor
    ) {
        var redactor = redactor
        var chunk = [UInt8](repeating: 0, count: Self.chunkBytes)
        var shown: [UInt8] = []
        var isFirst = true
        while true {
            let count = read(input, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return fail(SystemError(number: errno), target) }
            if isFirst, chunk[..<count].contains(0) { redactor = redactor.forBinary }
            isFirst = false
            shown.removeAll(keepingCapacity: true)
            chunk.withUnsafeBytes { redactor.redact(UnsafeRawBufferPointer(rebasing: $0[..<count]), into: &shown) }
            if count == 0 { shown += redactor.finish() }
            guard counts(shown.count) else { return }
            let failure = shown.withUnsafeBytes { Descriptor.writeAll($0, to: output) }
            guard failure == 0 else { return fail(SystemError(number: failure), target) }
            if count == 0 { break }
        }
        if redactor.hasMasked { note("secrets in \(String(decoding: path, as: UTF8.self)) were masked") }
        if fdatasync(output) != 0 { fail(SystemError(number: errno), target) }
    }

    /// Counts bytes, and returns whether they are within the limit.
    private mutating func counts(_ count: Int) -> Bool {
        bytes += Int64(count)
        if bytes > byteLimit { limit = "\(noun) over \(Words.size(byteLimit))" }
        return bytes <= byteLimit
    }

    /// Writes the names of files and directories to disk, all at once. The files' bytes are already on disk.
    private mutating func synchronizeNames() {
        for path in changed.sorted(by: { $0.count > $1.count }) where problem == nil {
            guard case .success(let directory) = destination.open(path, O_RDONLY | O_DIRECTORY) else {
                return fail(SystemError(number: errno), path)
            }
            defer { close(directory) }
            if fsync(directory) != 0 { fail(SystemError(number: errno), path) }
        }
        changed = []
    }

    private mutating func fail(_ error: SystemError, _ target: [UInt8]) {
        problem = "copying to \(String(decoding: target, as: UTF8.self)) failed: \(error.text)"
    }
}
